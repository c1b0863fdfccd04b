// CasADi's symbols as Pinocchio's scalars; how many instructions a CasADi graph has; its C program.

#pragma once

#include <pinocchio/autodiff/casadi.hpp>

#include "model.hpp"

#include <cmath>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace cs = ::casadi;
using Scalar = cs::SX;
using Model = pinocchio::ModelTpl<Scalar>;
using Data = pinocchio::DataTpl<Scalar>;
using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

// --- counting ---------------------------------------------------------------------------------

const std::map<casadi_int, std::string> NAMES = {
  {cs::OP_ADD, "add"}, {cs::OP_SUB, "sub"}, {cs::OP_TWICE, "twice"}, {cs::OP_NEG, "neg"},
  {cs::OP_MUL, "mul"}, {cs::OP_SQ, "sq"},   {cs::OP_DIV, "div"},     {cs::OP_INV, "inv"},
  {cs::OP_SIN, "sin"}, {cs::OP_COS, "cos"}, {cs::OP_SQRT, "sqrt"},
};
const std::set<casadi_int> FREE = {cs::OP_INPUT, cs::OP_OUTPUT, cs::OP_CONST, cs::OP_PARAMETER};

// Counts instructions by kind. What divides is counted once for all it divides ("divisors"), since
// one reciprocal serves them. A quotient by a constant is a product, a product with 2 a doubling.
inline std::map<std::string, int> census(const cs::Function &function)
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

inline void print(const std::map<std::string, int> &counts)
{
  const char *comma = "";
  for (const auto &[name, count] : counts)
  {
    std::cout << comma << "\"" << name << "\": " << count;
    comma = ", ";
  }
}

// --- matrices and programs --------------------------------------------------------------------

inline Vector entries(const Scalar &column)
{
  Vector vector(column.rows());
  for (int i = 0; i < vector.rows(); ++i)
    vector[i] = column(i);
  return vector;
}

inline Scalar columns(const Matrix &matrix)
{
  Scalar result = Scalar::zeros(matrix.rows(), matrix.cols());
  for (int i = 0; i < matrix.rows(); ++i)
    for (int j = 0; j < matrix.cols(); ++j)
      result(i, j) = matrix(i, j);
  return result;
}

inline void write(const cs::Function &function, const std::string &folder)
{
  cs::CodeGenerator program(function.name() + ".c");
  program.add(function);
  program.generate(folder + "/");
}
