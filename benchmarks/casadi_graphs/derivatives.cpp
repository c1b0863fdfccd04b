// Derivatives of the dynamics of one mechanism as CasADi graphs, their size and their C programs.
//
//     derivatives MODEL FOLDER
//
// MODEL is a text file written by count.py: a mechanism (see model.hpp). Every output line is one
// graph: quantity and variant, and how many instructions of each kind it has after CasADi's
// elimination of common subexpressions. Two variants: `analytic` are Pinocchio's own algorithms for
// derivatives, `jacobian` is CasADi's Jacobian of the algorithm for the values. Columns are
// derivatives by the tangent of q, by v, and by a or tau; each of the three matrices leaves by rows.
//
// Into FOLDER goes CasADi's C program of a graph, unless another variant has less than half of its
// instructions: a compiler would need an hour for what cannot be the faster one.

#include "graph.hpp"

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include <chrono>
#include <cstddef>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using Matrices = std::vector<Scalar>;

// --- Pinocchio's derivatives ------------------------------------------------------------------

Matrices of_inverse_dynamics(const Model &model, const Vector &q, const Vector &v, const Vector &a)
{
  Data data(model);
  pinocchio::computeRNEADerivatives(model, data, q, v, a);
  Matrix mass = data.M;
  for (int i = 0; i < mass.rows(); ++i)
    for (int j = 0; j < i; ++j)
      mass(i, j) = mass(j, i);
  return {columns(data.dtau_dq), columns(data.dtau_dv), columns(mass)};
}

Matrices
of_forward_dynamics(const Model &model, const Vector &q, const Vector &v, const Vector &tau)
{
  Data data(model);
  pinocchio::computeABADerivatives(model, data, q, v, tau);
  return {columns(data.ddq_dq), columns(data.ddq_dv), columns(data.Minv)};
}

// --- CasADi's Jacobians -----------------------------------------------------------------------

// How coordinates change with the rates: the first order of `integrate`.
Scalar tangent(const Model &model, const Vector &q)
{
  Scalar map = Scalar::zeros(model.nq, model.nv);
  for (int i = 1; i < model.njoints; ++i)
  {
    const int row = model.idx_qs[i], column = model.idx_vs[i];
    if (model.nqs[i] == 1)
    {
      map(row, column) = 1;
      continue;
    }
    const Scalar x = q[row + 3], y = q[row + 4], z = q[row + 5], w = q[row + 6];
    const Eigen::Matrix<Scalar, 3, 3> rotation =
      Eigen::Quaternion<Scalar>(w, x, y, z).toRotationMatrix();
    const Scalar turned[4][3] = {{w, -z, y}, {z, w, -x}, {-y, x, w}, {-x, -y, -z}};
    for (int j = 0; j < 3; ++j)
    {
      for (int k = 0; k < 3; ++k)
        map(row + k, column + j) = rotation(k, j);
      for (int k = 0; k < 4; ++k)
        map(row + 3 + k, column + 3 + j) = turned[k][j] / 2;
    }
  }
  return map;
}

template<typename Dynamics>
Matrices jacobians(const Model &model, const std::vector<Scalar> &given, Dynamics dynamics)
{
  const int nv = model.nv;
  const Scalar change = Scalar::sym("change", nv);
  const Scalar moved = given[0] + Scalar::mtimes(tangent(model, entries(given[0])), change);
  Data data(model);
  const Matrix values = dynamics(data, entries(moved), entries(given[1]), entries(given[2]));
  const Scalar by = Scalar::vertcat({change, given[1], given[2]});
  const Scalar whole = Scalar::jacobian(columns(values), by);
  const Scalar still = Scalar::densify(Scalar::substitute(whole, change, Scalar::zeros(nv)));
  const cs::Slice all;
  return {
    still(all, cs::Slice(0, nv)), still(all, cs::Slice(nv, 2 * nv)),
    still(all, cs::Slice(2 * nv, 3 * nv))};
}

// --- graphs -----------------------------------------------------------------------------------

struct Graph
{
  std::string quantity, variant;
  cs::Function function;
  double seconds;
};

template<typename Make>
Graph graph(
  const std::string &quantity, const std::string &variant, const Model &model,
  const std::vector<Scalar> &given, Make make)
{
  const auto start = std::chrono::steady_clock::now();
  Matrices by_rows;
  for (const Scalar &matrix : make())
    by_rows.push_back(Scalar::densify(Scalar::vec(matrix.T())));
  const cs::Function function(
    quantity + "_" + variant, given, cs::SX::cse({Scalar::vertcat(by_rows)}));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  return {quantity, variant, function, taken.count()};
}

// Both variants of a quantity: sizes are printed, programs go into the folder.
void write_both(const std::vector<Graph> &variants, const std::string &folder)
{
  casadi_int fewest = variants[0].function.n_instructions();
  for (const Graph &each : variants)
    fewest = std::min(fewest, each.function.n_instructions());
  for (const Graph &each : variants)
  {
    std::cout << "{\"quantity\": \"" << each.quantity << "\", \"variant\": \"" << each.variant
              << "\", \"seconds\": " << each.seconds << ", \"instructions\": {";
    print(census(each.function));
    std::cout << "}}" << std::endl;
    if (each.function.n_instructions() <= 2 * fewest)
      write(each.function, folder);
  }
}

int main(int count, char **arguments)
{
  if (count != 3)
    throw std::runtime_error("usage: derivatives MODEL FOLDER");
  std::ifstream file(arguments[1]);
  const Model model = read_model(file).cast<Scalar>();
  const std::vector<Scalar> given = {
    Scalar::sym("q", model.nq), Scalar::sym("v", model.nv), Scalar::sym("third", model.nv)};
  const Vector q = entries(given[0]), v = entries(given[1]), third = entries(given[2]);
  const auto inverse = [&](Data &data, const Vector &q, const Vector &v, const Vector &a) {
    return Matrix(pinocchio::rnea(model, data, q, v, a));
  };
  const auto forward = [&](Data &data, const Vector &q, const Vector &v, const Vector &tau) {
    return Matrix(pinocchio::aba(model, data, q, v, tau, pinocchio::Convention::LOCAL));
  };
  const std::string first = "inverse_dynamics", second = "forward_dynamics";
  write_both(
    {graph(first, "analytic", model, given,
           [&] { return of_inverse_dynamics(model, q, v, third); }),
     graph(first, "jacobian", model, given, [&] { return jacobians(model, given, inverse); })},
    arguments[2]);
  write_both(
    {graph(second, "analytic", model, given,
           [&] { return of_forward_dynamics(model, q, v, third); }),
     graph(second, "jacobian", model, given, [&] { return jacobians(model, given, forward); })},
    arguments[2]);
}
