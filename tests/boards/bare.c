/* Compares inverse dynamics with what is expected; no library is there. */
#include "arm.h"

extern const REAL q[SIZE], qd[SIZE], qdd[SIZE], expected[SIZE];
extern const REAL limits[2]; /* one, and the tolerance: so that no constants are here */

void *memset(void *start, int value, size_t count);
void *memcpy(void *to, const void *from, size_t count);

void *memset(void *start, int value, size_t count)
{
    volatile unsigned char *at = start;
    while (count--)
        *at++ = (unsigned char)value;
    return start;
}

void *memcpy(void *to, const void *from, size_t count)
{
    volatile unsigned char *at = to;
    const unsigned char *source = from;
    while (count--)
        *at++ = *source++;
    return to;
}

int compare(void);

__attribute__((noinline)) int compare(void)
{
    REAL tau[SIZE];
    int i;
    arm_inverse_dynamics(q, qd, qdd, tau);
    for (i = 0; i < SIZE; ++i) {
        const REAL difference = tau[i] - expected[i];
        const REAL size = limits[0] + (expected[i] < 0 ? -expected[i] : expected[i]);
        if (!(difference < limits[1]*size && -difference < limits[1]*size))
            return 1;
    }
    return 0;
}
