/** Who a member is to the service. The keys are the account: losing both loses it. */
export interface Identity {
  id: string;
  handle: string;
  sign_in_key: string;
  recovery_key: string;
}

/** 32 random bytes as 64 lowercase hex characters. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Keep it before it is registered: a registration may be repeated with the same four values. */
export function newIdentity(handle: string): Identity {
  return { id: crypto.randomUUID(), handle, sign_in_key: newKey(), recovery_key: newKey() };
}
