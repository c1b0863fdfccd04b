/* Time and values of a function of one state, called over prepared states without Python between.

   A function takes the addresses of what is given and of its results, two to nine in all. States lie
   one after the other, so many numbers apart; where results overwrite each other, it is none. */

#include <math.h>
#include <time.h>

struct array {
  double *start;
  long step;
};

typedef double *A;

static void call(void *f, long arrays, const struct array *a, long i)
{
#define P(k) (a[k].start + i * a[k].step)
  switch (arrays) {
  case 2:
    ((void (*)(A, A))f)(P(0), P(1));
    break;
  case 3:
    ((void (*)(A, A, A))f)(P(0), P(1), P(2));
    break;
  case 4:
    ((void (*)(A, A, A, A))f)(P(0), P(1), P(2), P(3));
    break;
  case 5:
    ((void (*)(A, A, A, A, A))f)(P(0), P(1), P(2), P(3), P(4));
    break;
  case 6:
    ((void (*)(A, A, A, A, A, A))f)(P(0), P(1), P(2), P(3), P(4), P(5));
    break;
  case 7:
    ((void (*)(A, A, A, A, A, A, A))f)(P(0), P(1), P(2), P(3), P(4), P(5), P(6));
    break;
  case 8:
    ((void (*)(A, A, A, A, A, A, A, A))f)(P(0), P(1), P(2), P(3), P(4), P(5), P(6), P(7));
    break;
  case 9:
    ((void (*)(A, A, A, A, A, A, A, A, A))f)(
      P(0), P(1), P(2), P(3), P(4), P(5), P(6), P(7), P(8));
    break;
  }
#undef P
}

/* Time of this thread only: what other programs do on the machine does not count. */
static double nanoseconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Results of all states. */
void values(void *f, long count, long arrays, const struct array *a)
{
  for (long i = 0; i < count; ++i)
    call(f, arrays, a, i);
}

/* Nanoseconds per call in the best of many passes over the states, at least five, which together
   take about `milliseconds`. */
double best_pass(void *f, long count, long arrays, const struct array *a, long milliseconds)
{
  double best = INFINITY, spent = 0;
  values(f, count, arrays, a);
  for (long pass = 0; pass < 5 || spent < 1e6 * (double)milliseconds; ++pass) {
    const double start = nanoseconds();
    values(f, count, arrays, a);
    const double taken = nanoseconds() - start;
    best = fmin(best, taken);
    spent += taken;
  }
  return best / (double)count;
}
