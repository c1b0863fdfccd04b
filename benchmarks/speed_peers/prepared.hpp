// Models that plain C functions compute: `load` reads one (see casadi_graphs/model.hpp) and prepares
// what the algorithms work in; `choose` says which of the loaded models the functions compute.

#pragma once

#include "../casadi_graphs/model.hpp"

#include <fstream>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

using Vector = Eigen::Map<const Eigen::VectorXd>;

struct Prepared
{
  pinocchio::Model model;
  std::vector<pinocchio::Data> data; // one for each thread
};

static Prepared *chosen = nullptr;

EXPORT void *load(const char *path, int threads)
{
  std::ifstream file(path);
  auto *prepared = new Prepared{read_model(file), {}};
  prepared->data.assign(threads, pinocchio::Data(prepared->model));
  return prepared;
}

EXPORT void choose(void *prepared)
{
  chosen = static_cast<Prepared *>(prepared);
}

static Vector q_of(const double *q)
{
  return Vector(q, chosen->model.nq);
}

static Vector v_of(const double *v)
{
  return Vector(v, chosen->model.nv);
}
