// Damped least squares over Pinocchio for many targets, in one compiled loop.
//
// The step is that of the documentation's example: v = - J^T (J J^T + damp)^-1 err, with the error
// log6 in axes of the tip and its derivative in J. From one start to the next the joints are random
// within their limits. With `adaptive` the damping follows the error, and steps are whole ones.

#include "../casadi_graphs/model.hpp"

#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/spatial.hpp>

#include <random>

namespace
{
pinocchio::Model model;
pinocchio::FrameIndex tip;
using Poses = Eigen::Map<const Eigen::Matrix<double, 4, 4, Eigen::RowMajor>>;
}

extern "C" __attribute__((visibility("default"))) void
load(const char *path, int joint, const double *placement)
{
  std::ifstream file(path);
  model = read_model(file);
  const Poses pose(placement);
  const pinocchio::SE3 at(pose.topLeftCorner<3, 3>(), pose.topRightCorner<3, 1>());
  tip = model.addFrame(pinocchio::Frame("tip", joint, at, pinocchio::OP_FRAME));
}

// Solve n targets; q holds the first starts and then the poses. Returns how many steps were taken.
extern "C" __attribute__((visibility("default"))) long
solve(long n, const double *targets, const double *lower, const double *upper, int starts,
      int steps, double tolerance, double damping, double size, int adaptive, double *q,
      double *reached)
{
  using Vector6 = Eigen::Matrix<double, 6, 1>;
  using Matrix6 = Eigen::Matrix<double, 6, 6>;
  pinocchio::Data data(model);
  std::mt19937_64 random(0);
  pinocchio::Data::Matrix6x J(6, model.nv);
  Eigen::VectorXd pose(model.nq), step(model.nv);
  long count = 0;
  for (long k = 0; k < n; ++k)
  {
    const Poses wanted(targets + 16 * k);
    const pinocchio::SE3 goal(wanted.topLeftCorner<3, 3>(), wanted.topRightCorner<3, 1>());
    pose = Eigen::Map<Eigen::VectorXd>(q + k * model.nq, model.nq);
    bool found = false;
    for (int start = 0; start < starts && !found; ++start)
    {
      for (int i = 0; start > 0 && i < model.nq; ++i)
        pose[i] = std::uniform_real_distribution<double>(lower[i], upper[i])(random);
      for (int s = 0; s < steps; ++s, ++count)
      {
        pinocchio::computeJointJacobians(model, data, pose);
        pinocchio::updateFramePlacement(model, data, tip);
        const pinocchio::SE3 gap = data.oMf[tip].actInv(goal);
        const Vector6 error = pinocchio::log6(gap).toVector();
        if (error.norm() < tolerance)
        {
          found = true;
          break;
        }
        J.setZero();
        pinocchio::getFrameJacobian(model, data, tip, pinocchio::LOCAL, J);
        Matrix6 Jlog;
        pinocchio::Jlog6(gap.inverse(), Jlog);
        const Eigen::Matrix<double, 6, Eigen::Dynamic> slope = -Jlog * J;
        Matrix6 square = slope * slope.transpose();
        square.diagonal().array() += adaptive ? damping * error.squaredNorm() + 1e-14 : damping;
        step.noalias() = -slope.transpose() * square.ldlt().solve(error);
        pose = pinocchio::integrate(model, pose, Eigen::VectorXd(step * size));
      }
      // Whole turns back into the limits; a pose outside of them counts as none where there are more.
      for (int i = 0; i < model.nq; ++i)
      {
        while (found && pose[i] > upper[i] && pose[i] - 2 * M_PI >= lower[i])
          pose[i] -= 2 * M_PI;
        while (found && pose[i] < lower[i] && pose[i] + 2 * M_PI <= upper[i])
          pose[i] += 2 * M_PI;
        if (pose[i] > upper[i] || pose[i] < lower[i])
          found = found && starts == 1;
      }
    }
    Eigen::Map<Eigen::VectorXd>(q + k * model.nq, model.nq) = pose;
    reached[k] = found;
  }
  return count;
}
