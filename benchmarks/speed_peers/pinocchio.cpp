// Pinocchio's algorithms as plain C functions (q, v, third, out) on one model chosen beforehand.
//
// Matrices leave as Pinocchio keeps them, column by column, so that no time goes into turning them.
// The mass matrix is completed: crba computes one triangle.

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include "prepared.hpp"

using pinocchio::Convention;

static void inverse_dynamics(
  pinocchio::Data &data, const double *q, const double *v, const double *a, double *out)
{
  const auto &tau = pinocchio::rnea(chosen->model, data, q_of(q), v_of(v), v_of(a));
  Eigen::Map<Eigen::VectorXd>(out, tau.size()) = tau;
}

static void mass_matrix(const double *q, double *out, Convention convention)
{
  pinocchio::Data &data = chosen->data[0];
  const auto &M = pinocchio::crba(chosen->model, data, q_of(q), convention);
  Eigen::Map<Eigen::MatrixXd> whole(out, M.rows(), M.cols());
  whole.triangularView<Eigen::Upper>() = M;
  whole.triangularView<Eigen::StrictlyLower>() = M.transpose();
}

static void forward_dynamics(
  const double *q, const double *v, const double *tau, double *out, Convention convention)
{
  pinocchio::Data &data = chosen->data[0];
  const auto &a =
    pinocchio::aba(chosen->model, data, q_of(q), v_of(v), v_of(tau), convention);
  Eigen::Map<Eigen::VectorXd>(out, a.size()) = a;
}

EXPORT void inverse_dynamics_local(const double *q, const double *v, const double *a, double *out)
{
  inverse_dynamics(chosen->data[0], q, v, a, out);
}

EXPORT void mass_matrix_local(const double *q, const double *, const double *, double *out)
{
  mass_matrix(q, out, Convention::LOCAL);
}

EXPORT void mass_matrix_world(const double *q, const double *, const double *, double *out)
{
  mass_matrix(q, out, Convention::WORLD);
}

EXPORT void forward_dynamics_local(const double *q, const double *v, const double *tau, double *out)
{
  forward_dynamics(q, v, tau, out, Convention::LOCAL);
}

EXPORT void forward_dynamics_world(const double *q, const double *v, const double *tau, double *out)
{
  forward_dynamics(q, v, tau, out, Convention::WORLD);
}

EXPORT void coriolis_matrix_world(const double *q, const double *v, const double *, double *out)
{
  pinocchio::Data &data = chosen->data[0];
  const auto &C = pinocchio::computeCoriolisMatrix(chosen->model, data, q_of(q), v_of(v));
  Eigen::Map<Eigen::MatrixXd>(out, C.rows(), C.cols()) = C;
}

// Inverse dynamics of many states, one after the other in memory, on so many threads.
EXPORT void inverse_dynamics_batch(
  long states, int threads, const double *q, const double *v, const double *a, double *out)
{
  const int nq = chosen->model.nq, nv = chosen->model.nv;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int t = 0; t < threads; ++t)
    for (long i = states * t / threads; i < states * (t + 1) / threads; ++i)
      inverse_dynamics(chosen->data[t], q + i * nq, v + i * nv, a + i * nv, out + i * nv);
}
