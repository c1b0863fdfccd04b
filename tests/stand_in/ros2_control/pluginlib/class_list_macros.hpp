// Instead of a registry of plugins, one function that makes the controller.
#pragma once

#include <memory>

#define PLUGINLIB_EXPORT_CLASS(derived, base) \
  std::unique_ptr<base> made_plugin() {return std::make_unique<derived>();}
