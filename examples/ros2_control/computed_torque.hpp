// Computed torque for pick_arm: efforts with which errors of the motion die out. No ROS in here.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "pick_arm.hpp"

namespace pick_arm_control
{
constexpr std::size_t JOINTS = std::size(pick_arm::qd_names);
using Vector = std::array<double, JOINTS>;

struct Motion
{
  Vector q{}, qd{}, qdd{};
};

struct ComputedTorque
{
  double frequency = 0.0;  // rad/s: error'' + 2 damping frequency error' + frequency^2 error = 0
  double damping = 1.0;
  Vector limit{};  // of efforts, N m

  // Computes efforts; returns false, and leaves them alone, where a number is not finite.
  bool efforts(const Motion & wanted, const Vector & q, const Vector & qd, Vector & tau) const noexcept
  {
    Vector qdd, found;
    for (std::size_t k = 0; k < JOINTS; ++k) {
      qdd[k] = wanted.qdd[k] + 2 * damping * frequency * (wanted.qd[k] - qd[k]) +
        frequency * frequency * (wanted.q[k] - q[k]);
    }
    pick_arm::inverse_dynamics(q.data(), qd.data(), qdd.data(), found.data());
    if (!std::all_of(found.begin(), found.end(), [](double x) {return std::isfinite(x);})) {
      return false;
    }
    for (std::size_t k = 0; k < JOINTS; ++k) {
      tau[k] = std::clamp(found[k], -limit[k], limit[k]);
    }
    return true;
  }
};
}  // namespace pick_arm_control
