/* Runs the S-function above as Simulink does, with ode4 in steps of 1 ms and constant inputs. The
   arguments are the time, the position at the beginning, and the inputs; outputs are printed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void moved(SimStruct *S, const real_T *from, const real_T *rate, double step)
{
    int_T k;
    for (k = 0; k < S->states; ++k) S->x[k] = from[k] + step*rate[k];
    mdlOutputs(S, 0);
    mdlDerivatives(S);
}

static void stepped(SimStruct *S, double h)
{
    const double nodes[] = {0.0, 0.5, 0.5, 1.0}, weights[] = {1.0, 2.0, 2.0, 1.0};
    real_T start[64], rate[64], sum[64] = {0};
    int_T i, k;
    memcpy(start, S->x, sizeof start);
    memset(rate, 0, sizeof rate);
    for (i = 0; i < 4; ++i) {
        moved(S, start, rate, nodes[i]*h);
        memcpy(rate, S->rate, sizeof rate);
        for (k = 0; k < S->states; ++k) sum[k] += weights[i]/6.0*rate[k];
    }
    moved(S, start, sum, h);
}

int main(int count, char **arguments)
{
    static SimStruct S;
    double numbers[64];
    const int given = count - 2, joints = given/2, steps = (int)(1000.0*atof(arguments[1]) + 0.5);
    const mxArray start = {numbers, (size_t)joints};
    int k;
    for (k = 0; k < given; ++k) numbers[k] = atof(arguments[k + 2]);
    S.given = 1;
    S.parameter = &start;
    mdlInitializeSizes(&S);
    if (S.error != NULL || S.states != 2*joints || S.input_width[0] != joints) {
        printf("refused: %s\n", S.error == NULL ? "widths" : S.error);
        return 0;
    }
    for (k = 0; k < joints; ++k) S.input[k] = numbers[joints + k];
    mdlInitializeSampleTimes(&S);
    mdlInitializeConditions(&S);
    for (k = 0; k < steps; ++k) stepped(&S, 0.001);
    mdlOutputs(&S, 0);
    for (k = 0; k < S.output_width[0]; ++k) printf("%.17g ", S.output[0][k]);
    for (k = 0; k < S.output_width[1]; ++k) printf("%.17g ", S.output[1][k]);
    mdlTerminate(&S);
    return 0;
}
