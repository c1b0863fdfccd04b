/* Time and values of a function of one state, called over prepared states without Python between.

   A function has one to three arguments and the place of its result:
   (q, out), (q, qd, out) or (q, qd, third, out), where third is qdd or tau.
   States lie one after the other: q by nq numbers, qd and third by nv. */

#include <math.h>
#include <time.h>

typedef void (*function_1)(const double *, double *);
typedef void (*function_2)(const double *, const double *, double *);
typedef void (*function_3)(const double *, const double *, const double *, double *);

struct states {
  long count, nq, nv;
  const double *q, *qd, *third;
};

static void once(void *f, long arguments, const struct states *s, double *out, long stride)
{
  const double *q = s->q, *qd = s->qd, *third = s->third;
  const long count = s->count, nq = s->nq, nv = s->nv;
  if (arguments == 1)
    for (long i = 0; i < count; ++i)
      ((function_1)f)(q + i * nq, out + i * stride);
  else if (arguments == 2)
    for (long i = 0; i < count; ++i)
      ((function_2)f)(q + i * nq, qd + i * nv, out + i * stride);
  else
    for (long i = 0; i < count; ++i)
      ((function_3)f)(q + i * nq, qd + i * nv, third + i * nv, out + i * stride);
}

/* Time of this thread only: what other programs do on the machine does not count. */
static double nanoseconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Results of all states, `stride` numbers apart. */
void values(void *f, long arguments, const struct states *s, double *out, long stride)
{
  once(f, arguments, s, out, stride);
}

/* Nanoseconds per call in the best of many passes over the states, at least five, which together
   take about `milliseconds`; results overwrite each other. */
double best_pass(void *f, long arguments, const struct states *s, double *out, long milliseconds)
{
  double best = INFINITY, spent = 0;
  once(f, arguments, s, out, 0);
  for (long pass = 0; pass < 5 || spent < 1e6 * (double)milliseconds; ++pass) {
    const double start = nanoseconds();
    once(f, arguments, s, out, 0);
    const double taken = nanoseconds() - start;
    best = fmin(best, taken);
    spent += taken;
  }
  return best / (double)s->count;
}
