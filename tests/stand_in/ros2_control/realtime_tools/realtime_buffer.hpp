// A value that one thread writes and another reads; here there is one thread.
#pragma once

namespace realtime_tools
{
template<class T>
class RealtimeBuffer
{
public:
  T * readFromRT() {return &value_;}
  void writeFromNonRT(const T & value) {value_ = value;}

private:
  T value_{};
};
}  // namespace realtime_tools
