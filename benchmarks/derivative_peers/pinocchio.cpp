// Pinocchio's derivatives as plain C functions (q, v, third, out) on one model chosen beforehand.
//
// All results are written where they are wanted, without a copy: matrices and tensors as Pinocchio
// keeps them, column by column. `out` is zero before the first call, since entries that are zero for
// every state are not written. The derivative of inverse dynamics by accelerations is completed:
// Pinocchio computes one triangle.

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea-second-order-derivatives.hpp>

#include "../speed_peers/prepared.hpp"

using Square = Eigen::Map<Eigen::MatrixXd>;
using Cube = Eigen::TensorMap<Eigen::Tensor<double, 3>>;

static Square square(double *out, int place)
{
  const int nv = chosen->model.nv;
  return Square(out + place * nv * nv, nv, nv);
}

static Cube cube(double *out, int place)
{
  const int nv = chosen->model.nv;
  return Cube(out + place * nv * nv * nv, nv, nv, nv);
}

// By q, by v, by a.
EXPORT void inverse_dynamics(const double *q, const double *v, const double *a, double *out)
{
  Square by_a = square(out, 2);
  pinocchio::computeRNEADerivatives(
    chosen->model, chosen->data[0], q_of(q), v_of(v), v_of(a), square(out, 0), square(out, 1),
    by_a);
  by_a.triangularView<Eigen::StrictlyLower>() = by_a.transpose();
}

// By q, by v, by tau.
EXPORT void forward_dynamics(const double *q, const double *v, const double *tau, double *out)
{
  pinocchio::computeABADerivatives(
    chosen->model, chosen->data[0], q_of(q), v_of(v), v_of(tau), square(out, 0), square(out, 1),
    square(out, 2));
}

// By q and q, by v and v, by q and v, by a and q.
EXPORT void second_order(const double *q, const double *v, const double *a, double *out)
{
  pinocchio::ComputeRNEASecondOrderDerivatives(
    chosen->model, chosen->data[0], q_of(q), v_of(v), v_of(a), cube(out, 0), cube(out, 1),
    cube(out, 2), cube(out, 3));
}
