/** Returns the SHA-256 of a packet in the form of RFC 8785, in hex: its `content_hash`. */
export async function contentHash(packet: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(canonicalJson(packet));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** JSON with sorted names, as RFC 8785 defines it; numbers and strings are written as JavaScript does. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, one]) => `${JSON.stringify(name)}:${canonicalJson(one)}`).join(',')}}`;
}
