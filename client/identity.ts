/** A member's id, handle and keys. The account is lost when both keys are lost. */
export interface Identity {
  id: string;
  handle: string;
  sign_in_key: string;
  recovery_key: string;
}

/** Returns a new key: 32 random bytes as 64 lowercase hex characters. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Creates an identity. Save it before registering, so that a registration can be repeated. */
export function newIdentity(handle: string): Identity {
  return { id: crypto.randomUUID(), handle, sign_in_key: newKey(), recovery_key: newKey() };
}
