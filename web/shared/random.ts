/** `bytes` cryptographically random bytes, in lowercase hex. */
export function randomHex(bytes: number): string {
  return [...crypto.getRandomValues(new Uint8Array(bytes))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}

/** A UUIDv4. Also works in insecure contexts, which lack `crypto.randomUUID`. */
export function randomUuid(): string {
  const hex = randomHex(16);
  const variant = '89ab'[Number.parseInt(hex[16] ?? '0', 16) % 4];
  const form = `${hex.slice(0, 12)}4${hex.slice(13, 16)}${variant}${hex.slice(17)}`;
  return form.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
