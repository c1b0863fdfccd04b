"""URDF: links and joints in XML, as robots are described in ROS; read, built and written."""
