// Runs the plugin in a loop of 1 ms with the exported forward dynamics as the arm, as a controller
// manager does, and prints what the test looks at. Allocations within update() are counted.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <new>

#include "computed_torque.hpp"
#include "plant.hpp"
#include "controller_interface/controller_interface.hpp"
#include "trajectory_msgs/msg/joint_trajectory_point.hpp"

static long allocations = 0;
void * operator new(std::size_t size)
{
  ++allocations;
  return std::malloc(size);
}
void operator delete(void * memory) noexcept {std::free(memory);}
void operator delete(void * memory, std::size_t) noexcept {std::free(memory);}

std::unique_ptr<controller_interface::ControllerInterface> made_plugin();

namespace
{
using pick_arm_control::JOINTS;
using pick_arm_control::Vector;
using trajectory_msgs::msg::JointTrajectoryPoint;
constexpr double STEP = 1e-5, PERIOD = 1e-3, FREQUENCY = 20.0;
Vector q{0.3, 0.9, -0.8, 0.5}, qd{}, tau{};

std::vector<double> sines(double t, int order)
{
  const double phase = 3 * t + order * std::acos(0.0), size = 0.3 * std::pow(3.0, order);
  std::vector<double> values;
  for (std::size_t k = 0; k < JOINTS; ++k) {
    values.push_back((order ? 0.0 : 0.4) + size * std::sin(phase + static_cast<double>(k)));
  }
  return values;
}

void move_arm()
{
  for (double t = 0; t < PERIOD - STEP / 2; t += STEP) {
    Vector qdd;
    plant::forward_dynamics(q.data(), qd.data(), tau.data(), qdd.data());
    for (std::size_t k = 0; k < JOINTS; ++k) {
      qd[k] += STEP * qdd[k];
      q[k] += STEP * qd[k];
    }
  }
}
}  // namespace

int main()
{
  auto plugin = made_plugin();
  plugin->on_init();
  plugin->get_node()->parameters["frequency"] = FREQUENCY;
  std::printf("without limits: %d\n", static_cast<int>(plugin->on_configure({})));
  plugin->get_node()->parameters["limit"] = std::vector<double>(JOINTS, 100.0);
  std::printf("with limits: %d\n", static_cast<int>(plugin->on_configure({})));
  for (const auto & name : plugin->command_interface_configuration().names) {
    std::printf("%s\n", name.c_str());
  }
  std::vector<hardware_interface::LoanedCommandInterface> commands;
  std::vector<hardware_interface::LoanedStateInterface> states;
  for (auto & each : tau) {commands.emplace_back(&each);}
  for (const auto & each : q) {states.emplace_back(&each);}
  for (const auto & each : qd) {states.emplace_back(&each);}
  plugin->assign_interfaces(std::move(commands), std::move(states));
  plugin->on_activate({});
  auto subscription = std::static_pointer_cast<rclcpp::Subscription<JointTrajectoryPoint>>(
    plugin->get_node()->subscriptions.at("~/reference"));

  for (int k = 0; k < 500; ++k) {plugin->update({}, {}), move_arm();}
  std::printf("standing: %.3e\n", std::hypot(q[1] - 0.9, qd[1]));

  long in_updates = 0;
  double worst = 0.0;
  Vector start{}, rate{};
  for (int step = 0; step < 1000; ++step) {
    const double t = step * PERIOD;
    const auto point = std::make_shared<JointTrajectoryPoint>(
      JointTrajectoryPoint{sines(t, 0), sines(t, 1), sines(t, 2), {}});
    subscription->callback(point);
    for (std::size_t k = 0; k < JOINTS; ++k) {
      const double error = point->positions[k] - q[k];
      if (step == 0) {start[k] = error; rate[k] = point->velocities[k] - qd[k];}
      const double expected =
        std::exp(-FREQUENCY * t) * (start[k] + (rate[k] + FREQUENCY * start[k]) * t);
      worst = std::fmax(worst, std::fabs(error - expected));
    }
    const long before = allocations;
    plugin->update({}, {});
    in_updates += allocations - before;
    move_arm();
  }
  std::printf("from the law of the error: %.3e\n", worst);
  std::printf("allocations: %ld of %ld\n", in_updates, allocations);
  q[2] = std::numeric_limits<double>::quiet_NaN();
  const Vector last = tau;
  std::printf("NaN: %d %d\n", static_cast<int>(plugin->update({}, {})), last == tau);
}
