function tau = pick_arm_law(q, qd, wanted) %#codegen
% Computed torque: the body of a MATLAB Function block. wanted is 4 x 3: q, qd, qdd.
    frequency = 20;
    qdd = wanted(:, 3) + 2*frequency*(wanted(:, 2) - qd) + frequency^2*(wanted(:, 1) - q);
    tau = pick_arm.inverse_dynamics(q, qd, qdd);
end
