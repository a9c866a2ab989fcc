import { FAULTS, injectFault } from '../platform/fault.ts';

// Loaded before the service in each process; injects the fault that PROOF_MUTANT names.
const chosen = FAULTS.find((name) => name === process.env.PROOF_MUTANT);
if (chosen) injectFault(chosen);
