// The dynamics of one mechanism as CasADi graphs, made by Pinocchio's algorithms, and their size.
//
//     graphs MODEL [FOLDER BATCH]
//
// MODEL is a text file written by count.py: a mechanism (see model.hpp) and a state q, v, a. Every
// output line is one graph: quantity and convention, how many instructions of each kind it has
// after CasADi's elimination of common subexpressions, and the values of its entries at the state,
// by rows.
//
// Into FOLDER go CasADi's C programs of the same graphs, for one state each, and of inverse
// dynamics also for BATCH states, as CasADi's `map`.

#include "graph.hpp"

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

using pinocchio::Convention;

void print(
  const std::string &title, const cs::Function &function, const std::vector<cs::DM> &state)
{
  std::cout << "{" << title << ", \"instructions\": {";
  print(census(function));
  std::cout << "}, \"values\": [";
  const char *comma = "";
  const cs::DM result = cs::DM::densify(function(state).at(0)).T();
  for (const double value : result.nonzeros())
  {
    std::cout << comma << std::setprecision(17) << value;
    comma = ", ";
  }
  std::cout << "]}" << std::endl;
}

// --- the quantities ---------------------------------------------------------------------------

Matrix mass_matrix(const Model &model, const Vector &q, Convention convention)
{
  Data data(model);
  pinocchio::crba(model, data, q, convention);
  Matrix whole = data.M;
  for (int i = 0; i < whole.rows(); ++i)
    for (int j = 0; j < i; ++j)
      whole(i, j) = whole(j, i);
  return whole;
}

Matrix forward_dynamics(
  const Model &model, const Vector &q, const Vector &v, const Vector &tau, Convention convention)
{
  Data data(model);
  return pinocchio::aba(model, data, q, v, tau, convention);
}

Matrix inverse_dynamics(const Model &model, const Vector &q, const Vector &v, const Vector &a)
{
  Data data(model);
  return pinocchio::rnea(model, data, q, v, a);
}

Matrix coriolis_matrix(const Model &model, const Vector &q, const Vector &v)
{
  Data data(model);
  return pinocchio::computeCoriolisMatrix(model, data, q, v);
}

struct Graph
{
  std::string quantity, convention;
  Matrix entries;
};

std::vector<Graph> graphs(const Model &model, const Vector &q, const Vector &v, const Vector &a)
{
  std::vector<Graph> all = {
    {"inverse_dynamics", "local", inverse_dynamics(model, q, v, a)},
    {"coriolis_matrix", "world", coriolis_matrix(model, q, v)},
  };
  for (const bool local : {true, false})
  {
    const std::string name = local ? "local" : "world";
    const Convention convention = local ? Convention::LOCAL : Convention::WORLD;
    all.push_back({"mass_matrix", name, mass_matrix(model, q, convention)});
    all.push_back({"forward_dynamics", name, forward_dynamics(model, q, v, a, convention)});
  }
  return all;
}

// --- C programs -------------------------------------------------------------------------------

void write_programs(
  const Graph &graph, const std::vector<Scalar> &given, const std::string &folder, int batch)
{
  // CasADi stores matrices by columns; the transpose is the matrix by rows.
  const Scalar by_rows = columns(graph.entries).T();
  const std::string name = graph.quantity + "_" + graph.convention;
  const cs::Function function(name, given, cs::SX::cse({by_rows}));
  write(function, folder);
  if (graph.quantity == "inverse_dynamics")
    write(function.map(batch), folder);
}

int main(int count, char **arguments)
{
  if (count != 2 && count != 4)
    throw std::runtime_error("usage: graphs MODEL [FOLDER BATCH]");
  std::ifstream file(arguments[1]);
  const pinocchio::Model numbers = read_model(file);
  const Model model = numbers.cast<Scalar>();
  const std::vector<Scalar> given = {
    Scalar::sym("q", model.nq), Scalar::sym("v", model.nv), Scalar::sym("a", model.nv)};
  std::vector<cs::DM> state;
  for (const auto &symbol : given)
  {
    const Eigen::VectorXd values = read(file, symbol.rows(), 1);
    state.emplace_back(std::vector<double>(values.data(), values.data() + values.size()));
  }
  const Vector q = entries(given[0]), v = entries(given[1]), a = entries(given[2]);
  // Without reuse of places, the place of a value tells it from every other.
  const cs::Dict options = {{"live_variables", false}};
  for (const auto &graph : graphs(model, q, v, a))
  {
    const cs::Function function("graph", given, cs::SX::cse({columns(graph.entries)}), options);
    const std::string title =
      "\"quantity\": \"" + graph.quantity + "\", \"convention\": \"" + graph.convention + "\"";
    print(title, function, state);
    if (count == 4)
      write_programs(graph, given, arguments[2], std::atoi(arguments[3]));
  }
}
