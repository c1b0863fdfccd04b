/* The arm as a block of Simulink: efforts in, positions and velocities out; the solver integrates.
   mex -Iexported_c pick_arm_plant.c exported_c/pick_arm.c */
#define S_FUNCTION_NAME pick_arm_plant
#define S_FUNCTION_LEVEL 2
#include "simstruc.h"

#include "pick_arm.h"

#define JOINTS ((int_T)(sizeof pick_arm_qd_names/sizeof pick_arm_qd_names[0]))

static void mdlInitializeSizes(SimStruct *S)
{
    ssSetNumSFcnParams(S, 1); /* the position at the beginning */
    if (ssGetNumSFcnParams(S) != ssGetSFcnParamsCount(S)) return;
    if ((int_T)mxGetNumberOfElements(ssGetSFcnParam(S, 0)) != JOINTS) {
        ssSetErrorStatus(S, "the position at the beginning has an entry for each joint");
        return;
    }
    ssSetNumContStates(S, 2*JOINTS);
    if (!ssSetNumInputPorts(S, 1)) return;
    ssSetInputPortWidth(S, 0, JOINTS);
    ssSetInputPortRequiredContiguous(S, 0, 1);
    ssSetInputPortDirectFeedThrough(S, 0, 0);
    if (!ssSetNumOutputPorts(S, 2)) return;
    ssSetOutputPortWidth(S, 0, JOINTS);
    ssSetOutputPortWidth(S, 1, JOINTS);
    ssSetNumSampleTimes(S, 1);
}

static void mdlInitializeSampleTimes(SimStruct *S)
{
    ssSetSampleTime(S, 0, CONTINUOUS_SAMPLE_TIME);
    ssSetOffsetTime(S, 0, 0.0);
}

#define MDL_INITIALIZE_CONDITIONS
static void mdlInitializeConditions(SimStruct *S)
{
    const real_T *start = mxGetPr(ssGetSFcnParam(S, 0));
    real_T *x = ssGetContStates(S);
    int_T k;
    for (k = 0; k < JOINTS; ++k) {
        x[k] = start[k];
        x[JOINTS + k] = 0.0;
    }
}

static void mdlOutputs(SimStruct *S, int_T tid)
{
    const real_T *x = ssGetContStates(S);
    real_T *q = ssGetOutputPortRealSignal(S, 0), *qd = ssGetOutputPortRealSignal(S, 1);
    int_T k;
    (void)tid;
    for (k = 0; k < JOINTS; ++k) {
        q[k] = x[k];
        qd[k] = x[JOINTS + k];
    }
}

#define MDL_DERIVATIVES
static void mdlDerivatives(SimStruct *S)
{
    const real_T *x = ssGetContStates(S), *tau = ssGetInputPortRealSignal(S, 0);
    real_T *rate = ssGetdX(S);
    int_T k;
    for (k = 0; k < JOINTS; ++k) rate[k] = x[JOINTS + k];
    pick_arm_forward_dynamics(x, x + JOINTS, tau, rate + JOINTS);
}

static void mdlTerminate(SimStruct *S)
{
    (void)S;
}

#ifdef MATLAB_MEX_FILE
#include "simulink.c"
#else
#include "cg_sfun.h"
#endif
