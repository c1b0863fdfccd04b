// The controller as a plugin of ros2_control: positions and velocities in, efforts out.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "computed_torque.hpp"
#include "controller_interface/controller_interface.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "realtime_tools/realtime_buffer.hpp"
#include "trajectory_msgs/msg/joint_trajectory_point.hpp"

namespace pick_arm_control
{
using controller_interface::CallbackReturn;
using controller_interface::InterfaceConfiguration;
using controller_interface::interface_configuration_type;
using controller_interface::return_type;
using trajectory_msgs::msg::JointTrajectoryPoint;

class ComputedTorqueController : public controller_interface::ControllerInterface
{
public:
  CallbackReturn on_init() override
  {
    auto_declare<double>("frequency", 20.0);
    auto_declare<double>("damping", 1.0);
    auto_declare<std::vector<double>>("limit", std::vector<double>());
    return CallbackReturn::SUCCESS;
  }

  // The order of joints is that of the exported functions, whatever the URDF or the hardware has.
  InterfaceConfiguration command_interface_configuration() const override
  {
    return {interface_configuration_type::INDIVIDUAL, interfaces("/effort")};
  }

  InterfaceConfiguration state_interface_configuration() const override
  {
    auto names = interfaces("/position");
    for (const auto & name : interfaces("/velocity")) {names.push_back(name);}
    return {interface_configuration_type::INDIVIDUAL, names};
  }

  CallbackReturn on_configure(const rclcpp_lifecycle::State &) override
  {
    law_.frequency = get_node()->get_parameter("frequency").as_double();
    law_.damping = get_node()->get_parameter("damping").as_double();
    const auto limit = get_node()->get_parameter("limit").as_double_array();
    if (limit.size() != JOINTS) {return CallbackReturn::ERROR;}
    std::copy(limit.begin(), limit.end(), law_.limit.begin());
    reference_ = get_node()->create_subscription<JointTrajectoryPoint>(
      "~/reference", 1, [this](std::shared_ptr<const JointTrajectoryPoint> point) {take(*point);});
    return CallbackReturn::SUCCESS;
  }

  // Until a reference comes, the arm stands where it is.
  CallbackReturn on_activate(const rclcpp_lifecycle::State &) override
  {
    Motion still;
    if (!read(still.q, still.qd)) {return CallbackReturn::ERROR;}
    still.qd.fill(0.0);
    wanted_.writeFromNonRT(still);
    return CallbackReturn::SUCCESS;
  }

  // In the loop of the controller manager: no allocation, no lock that is waited for, no logging.
  return_type update(const rclcpp::Time &, const rclcpp::Duration &) override
  {
    Vector q, qd, tau;
    if (!read(q, qd) || !law_.efforts(*wanted_.readFromRT(), q, qd, tau)) {
      return return_type::ERROR;
    }
    bool is_written = true;
    for (std::size_t k = 0; k < JOINTS; ++k) {
      is_written &= command_interfaces_[k].set_value(tau[k]);
    }
    return is_written ? return_type::OK : return_type::ERROR;
  }

private:
  static std::vector<std::string> interfaces(const std::string & kind)
  {
    std::vector<std::string> names;
    for (const auto joint : pick_arm::qd_names) {names.push_back(joint + kind);}
    return names;
  }

  bool read(Vector & q, Vector & qd) const
  {
    for (std::size_t k = 0; k < JOINTS; ++k) {
      const auto position = state_interfaces_[k].get_optional();
      const auto velocity = state_interfaces_[JOINTS + k].get_optional();
      if (!position || !velocity) {return false;}
      q[k] = *position;
      qd[k] = *velocity;
    }
    return true;
  }

  void take(const JointTrajectoryPoint & point)
  {
    if (point.positions.size() != JOINTS || point.velocities.size() != JOINTS ||
      point.accelerations.size() != JOINTS) {return;}
    Motion motion;
    std::copy(point.positions.begin(), point.positions.end(), motion.q.begin());
    std::copy(point.velocities.begin(), point.velocities.end(), motion.qd.begin());
    std::copy(point.accelerations.begin(), point.accelerations.end(), motion.qdd.begin());
    wanted_.writeFromNonRT(motion);
  }

  ComputedTorque law_;
  realtime_tools::RealtimeBuffer<Motion> wanted_;
  rclcpp::Subscription<JointTrajectoryPoint>::SharedPtr reference_;
};
}  // namespace pick_arm_control

PLUGINLIB_EXPORT_CLASS(
  pick_arm_control::ComputedTorqueController, controller_interface::ControllerInterface)
