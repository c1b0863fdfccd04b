/* Many motions by semi-implicit Euler over a function of one state, as others write such loops:
   v += h f(q, v, 0), q += h v. The states are replaced by those at the end. */

typedef void (*Dynamics)(const double *q, const double *v, const double *tau, double *out);

enum { MOST = 64 };

void swings(Dynamics f, long count, long steps, double h, long n, double *q, double *v)
{
  const double none[MOST] = {0};
  double a[MOST];
  for (long i = 0; i < count; ++i) {
    double *qi = q + i * n, *vi = v + i * n;
    for (long step = 0; step < steps; ++step) {
      f(qi, vi, none, a);
      for (long k = 0; k < n; ++k) {
        vi[k] += h * a[k];
        qi[k] += h * vi[k];
      }
    }
  }
}
