/* What the example uses of Simulink's simstruc.h, with the same meaning, so that it is compiled and
   run without Simulink. */
#ifndef SIMSTRUC_H
#define SIMSTRUC_H

#include <stddef.h>

typedef double real_T;
typedef int int_T;
typedef double time_T;
typedef struct { const double *numbers; size_t count; } mxArray;

typedef struct {
    int_T expected, given, states, inputs, outputs, input_width[2], output_width[2], times;
    int_T is_contiguous, has_feedthrough;
    time_T sample_time, offset;
    const char *error;
    const mxArray *parameter;
    real_T x[64], rate[64], input[64], output[2][64];
} SimStruct;

#define CONTINUOUS_SAMPLE_TIME ((time_T)0.0)
#define mxGetPr(a) ((a)->numbers)
#define mxGetNumberOfElements(a) ((a)->count)
#define ssSetNumSFcnParams(S, n) ((S)->expected = (n))
#define ssGetNumSFcnParams(S) ((S)->expected)
#define ssGetSFcnParamsCount(S) ((S)->given)
#define ssGetSFcnParam(S, k) (&(S)->parameter[k])
#define ssSetErrorStatus(S, text) ((S)->error = (text))
#define ssSetNumContStates(S, n) ((S)->states = (n))
#define ssSetNumInputPorts(S, n) ((S)->inputs = (n))
#define ssSetNumOutputPorts(S, n) ((S)->outputs = (n))
#define ssSetInputPortWidth(S, port, n) ((S)->input_width[port] = (n))
#define ssSetOutputPortWidth(S, port, n) ((S)->output_width[port] = (n))
#define ssSetInputPortRequiredContiguous(S, port, is) ((S)->is_contiguous = (is))
#define ssSetInputPortDirectFeedThrough(S, port, is) ((S)->has_feedthrough = (is))
#define ssSetNumSampleTimes(S, n) ((S)->times = (n))
#define ssSetSampleTime(S, k, t) ((S)->sample_time = (t))
#define ssSetOffsetTime(S, k, t) ((S)->offset = (t))
#define ssGetContStates(S) ((S)->x)
#define ssGetdX(S) ((S)->rate)
#define ssGetInputPortRealSignal(S, port) ((const real_T *)(S)->input)
#define ssGetOutputPortRealSignal(S, port) ((S)->output[port])

#endif
