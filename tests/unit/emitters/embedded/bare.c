/* Compares inverse dynamics with what is expected; no library is there. */
#include "arm.h"

extern const double q[SIZE], qd[SIZE], qdd[SIZE], expected[SIZE];

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

int compare(void)
{
    double tau[SIZE];
    int i;
    arm_inverse_dynamics(q, qd, qdd, tau);
    for (i = 0; i < SIZE; ++i) {
        const double difference = tau[i] - expected[i];
        const double size = 1.0 + (expected[i] < 0.0 ? -expected[i] : expected[i]);
        if (!(difference < 1e-12*size && -difference < 1e-12*size))
            return 1;
    }
    return 0;
}
