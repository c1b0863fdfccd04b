// What the example uses of ros2_control (4.x of Jazzy to 6.x) and rclcpp, with the same signatures,
// so that it is compiled and run without ROS 2. It says nothing about threads and middleware.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace rclcpp
{
class Time {};
class Duration {};

class Parameter
{
public:
  using Value = std::variant<double, std::vector<double>>;
  explicit Parameter(Value value) : value_(std::move(value)) {}
  double as_double() const {return std::get<double>(value_);}
  std::vector<double> as_double_array() const {return std::get<std::vector<double>>(value_);}

private:
  Value value_;
};

template<typename Message>
struct Subscription
{
  using SharedPtr = std::shared_ptr<Subscription>;
  std::function<void(std::shared_ptr<const Message>)> callback;
};
}  // namespace rclcpp

namespace rclcpp_lifecycle
{
class State {};

class LifecycleNode
{
public:
  rclcpp::Parameter get_parameter(const std::string & name) const
  {
    return rclcpp::Parameter(parameters.at(name));
  }

  template<typename Message, typename Callback>
  typename rclcpp::Subscription<Message>::SharedPtr create_subscription(
    const std::string & topic, int, Callback && callback)
  {
    auto made = std::make_shared<rclcpp::Subscription<Message>>();
    made->callback = std::forward<Callback>(callback);
    subscriptions[topic] = made;
    return made;
  }

  std::map<std::string, rclcpp::Parameter::Value> parameters;
  std::map<std::string, std::shared_ptr<void>> subscriptions;
};
}  // namespace rclcpp_lifecycle

namespace hardware_interface
{
class LoanedStateInterface
{
public:
  explicit LoanedStateInterface(const double * value) : value_(value) {}
  template<typename T = double>
  [[nodiscard]] std::optional<T> get_optional(unsigned int = 10) const {return *value_;}

private:
  const double * value_;
};

class LoanedCommandInterface
{
public:
  explicit LoanedCommandInterface(double * value) : value_(value) {}
  template<typename T>
  [[nodiscard]] bool set_value(const T & value, unsigned int = 10)
  {
    *value_ = value;
    return true;
  }

private:
  double * value_;
};
}  // namespace hardware_interface

namespace controller_interface
{
enum class CallbackReturn : std::uint8_t {SUCCESS = 97, FAILURE = 98, ERROR = 99};
enum class return_type : std::uint8_t {OK = 0, ERROR = 1};
enum class interface_configuration_type : std::uint8_t {ALL = 0, INDIVIDUAL = 1, NONE = 2};

struct InterfaceConfiguration
{
  interface_configuration_type type = interface_configuration_type::NONE;
  std::vector<std::string> names = {};
};

class ControllerInterface
{
public:
  virtual ~ControllerInterface() = default;
  virtual CallbackReturn on_init() = 0;
  virtual InterfaceConfiguration command_interface_configuration() const = 0;
  virtual InterfaceConfiguration state_interface_configuration() const = 0;
  virtual CallbackReturn on_configure(const rclcpp_lifecycle::State &) {return CallbackReturn::SUCCESS;}
  virtual CallbackReturn on_activate(const rclcpp_lifecycle::State &) {return CallbackReturn::SUCCESS;}
  virtual return_type update(const rclcpp::Time & time, const rclcpp::Duration & period) = 0;
  std::shared_ptr<rclcpp_lifecycle::LifecycleNode> get_node() {return node_;}

  void assign_interfaces(
    std::vector<hardware_interface::LoanedCommandInterface> && commands,
    std::vector<hardware_interface::LoanedStateInterface> && states)
  {
    command_interfaces_ = std::move(commands);
    state_interfaces_ = std::move(states);
  }

protected:
  template<typename T>
  auto auto_declare(const std::string & name, const T & value)
  {
    return std::get<T>(node_->parameters.emplace(name, value).first->second);
  }

  std::vector<hardware_interface::LoanedCommandInterface> command_interfaces_;
  std::vector<hardware_interface::LoanedStateInterface> state_interfaces_;

private:
  std::shared_ptr<rclcpp_lifecycle::LifecycleNode> node_ =
    std::make_shared<rclcpp_lifecycle::LifecycleNode>();
};
}  // namespace controller_interface
