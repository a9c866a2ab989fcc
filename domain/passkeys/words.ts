/** Why a passkey of a member ended. `copied`: its counter went back, so there is a copy of it. */
export const PASSKEY_ENDS = ['removed', 'copied', 'recovery', 'deactivated', 'disabled'] as const;

export type PasskeyEnd = (typeof PASSKEY_ENDS)[number];
