// A mechanism and numbers beside it, as count.py writes them, read into Pinocchio's model.
//
// The file has words and numbers: how many joints; for each the number of its parent, its kind,
// axis, placement (rotation by rows, then position), mass, mass centre and inertia about it; then
// gravity. Whatever follows is left to the caller.

#pragma once

#include <pinocchio/multibody.hpp>
#include <pinocchio/multibody/joint.hpp>

#include <fstream>
#include <stdexcept>
#include <string>

inline Eigen::MatrixXd read(std::istream &file, int rows, int columns)
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
inline pinocchio::JointModel joint(const std::string &kind, const Eigen::Vector3d &axis)
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

inline pinocchio::Model read_model(std::istream &file)
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
