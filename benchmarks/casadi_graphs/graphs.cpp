// The dynamics of one mechanism as CasADi graphs, made by Pinocchio's algorithms, and their size.
//
//     graphs MODEL
//
// MODEL is a text file of numbers and words, written by count.py: how many joints; for each the
// number of its parent, its kind, axis, placement (rotation by rows, then position), mass, mass
// centre and inertia about it; then gravity, and a state q, v, a. Every output line is one graph:
// quantity and convention, how many instructions of each kind it has after CasADi's elimination of
// common subexpressions, and the values of its entries at the state, by rows.

#include <pinocchio/autodiff/casadi.hpp>

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody.hpp>
#include <pinocchio/multibody/joint.hpp>

#include <cmath>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace cs = ::casadi;
using Scalar = cs::SX;
using Model = pinocchio::ModelTpl<Scalar>;
using Data = pinocchio::DataTpl<Scalar>;
using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
using pinocchio::Convention;

// --- reading ----------------------------------------------------------------------------------

Eigen::MatrixXd read(std::istream &file, int rows, int columns)
{
  Eigen::MatrixXd numbers(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      file >> numbers(i, j);
  if (!file)
    throw std::runtime_error("the file of the model ends too early");
  return numbers;
}

// The joint that Pinocchio itself would choose: one about a coordinate axis where there is one.
pinocchio::JointModel joint(const std::string &kind, const Eigen::Vector3d &axis)
{
  using namespace pinocchio;
  using Axis = Eigen::Vector3d;
  if (kind == "free")
    return JointModelFreeFlyer();
  const bool turns = kind == "revolute";
  if (!turns && kind != "prismatic")
    throw std::runtime_error("no joint of the kind " + kind);
  if (axis == Axis::UnitX())
    return turns ? JointModel(JointModelRX()) : JointModel(JointModelPX());
  if (axis == Axis::UnitY())
    return turns ? JointModel(JointModelRY()) : JointModel(JointModelPY());
  if (axis == Axis::UnitZ())
    return turns ? JointModel(JointModelRZ()) : JointModel(JointModelPZ());
  return turns ? JointModel(JointModelRevoluteUnaligned(axis))
               : JointModel(JointModelPrismaticUnaligned(axis));
}

pinocchio::Model read_model(std::istream &file)
{
  pinocchio::Model model;
  int joints = 0;
  file >> joints;
  for (int i = 1; i <= joints; ++i)
  {
    int parent = 0;
    std::string kind;
    file >> parent >> kind;
    const Eigen::Vector3d axis = read(file, 3, 1);
    const Eigen::Matrix3d rotation = read(file, 3, 3);
    const Eigen::Vector3d position = read(file, 3, 1);
    const double mass = read(file, 1, 1)(0, 0);
    const Eigen::Vector3d centre = read(file, 3, 1);
    const Eigen::Matrix3d inertia = read(file, 3, 3);
    const auto added = model.addJoint(
      parent, joint(kind, axis), pinocchio::SE3(rotation, position), "joint" + std::to_string(i));
    model.appendBodyToJoint(
      added, pinocchio::Inertia(mass, centre, inertia), pinocchio::SE3::Identity());
  }
  model.gravity.linear() = read(file, 3, 1);
  return model;
}

// --- counting ---------------------------------------------------------------------------------

const std::map<casadi_int, std::string> NAMES = {
  {cs::OP_ADD, "add"}, {cs::OP_SUB, "sub"}, {cs::OP_TWICE, "twice"}, {cs::OP_NEG, "neg"},
  {cs::OP_MUL, "mul"}, {cs::OP_SQ, "sq"},   {cs::OP_DIV, "div"},     {cs::OP_INV, "inv"},
  {cs::OP_SIN, "sin"}, {cs::OP_COS, "cos"}, {cs::OP_SQRT, "sqrt"},
};
const std::set<casadi_int> FREE = {cs::OP_INPUT, cs::OP_OUTPUT, cs::OP_CONST, cs::OP_PARAMETER};

// Counts instructions by kind. What divides is counted once for all it divides ("divisors"), since
// one reciprocal serves them. A quotient by a constant is a product, a product with 2 a doubling.
std::map<std::string, int> census(const cs::Function &function)
{
  std::map<std::string, int> counts;
  std::map<casadi_int, double> constants;
  std::set<casadi_int> divisors;
  for (casadi_int k = 0; k < function.n_instructions(); ++k)
  {
    const casadi_int id = function.instruction_id(k);
    if (id == cs::OP_CONST)
      constants[function.instruction_output(k).at(0)] = function.instruction_constant(k);
    if (FREE.count(id))
      continue;
    const auto given = function.instruction_input(k);
    const auto name = NAMES.find(id);
    std::string counted = name == NAMES.end() ? "other" : name->second;
    if (id == cs::OP_MUL)
      for (const auto x : given)
        if (constants.count(x) && std::abs(constants[x]) == 2.0)
          counted = "twice";
    if (id == cs::OP_DIV && constants.count(given.at(1)))
      counted = "mul";
    else if (id == cs::OP_DIV)
      divisors.insert(given.at(1));
    if (id == cs::OP_INV)
      divisors.insert(given.at(0));
    ++counts[counted];
  }
  counts["divisors"] = static_cast<int>(divisors.size());
  return counts;
}

void print(
  const std::string &title, const cs::Function &function, const std::vector<cs::DM> &state)
{
  std::cout << "{" << title << ", \"instructions\": {";
  const char *comma = "";
  for (const auto &[name, count] : census(function))
  {
    std::cout << comma << "\"" << name << "\": " << count;
    comma = ", ";
  }
  std::cout << "}, \"values\": [";
  comma = "";
  const cs::DM result = cs::DM::densify(function(state).at(0)).T();
  for (const double value : result.nonzeros())
  {
    std::cout << comma << std::setprecision(17) << value;
    comma = ", ";
  }
  std::cout << "]}" << std::endl;
}

// --- the quantities ---------------------------------------------------------------------------

Vector entries(const Scalar &column)
{
  Vector vector(column.rows());
  for (int i = 0; i < vector.rows(); ++i)
    vector[i] = column(i);
  return vector;
}

Scalar columns(const Matrix &matrix)
{
  Scalar result = Scalar::zeros(matrix.rows(), matrix.cols());
  for (int i = 0; i < matrix.rows(); ++i)
    for (int j = 0; j < matrix.cols(); ++j)
      result(i, j) = matrix(i, j);
  return result;
}

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

int main(int count, char **arguments)
{
  if (count != 2)
    throw std::runtime_error("usage: graphs MODEL");
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
  }
}
