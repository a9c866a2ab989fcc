import { randomHex, randomUuid } from '../shared/random.ts';

const SCHEMA = 'service.key-file.v1';

/** The keys of a member. They grant full access, so the page never stores them. */
export interface Keys {
  id: string;
  handle?: string;
  sign_in_key: string;
  recovery_key: string;
}

/** Generates keys in the browser. The service sees them once and keeps no copy. */
export const newKeys = (id: string = randomUuid()): Keys => ({
  id,
  sign_in_key: randomHex(32),
  recovery_key: randomHex(32),
});

export function keyFileText(keys: Keys): string {
  const { id, handle, sign_in_key, recovery_key } = keys;
  const file = {
    schema: SCHEMA,
    service: location.origin,
    created_at: new Date().toISOString(),
    id,
    handle,
    sign_in_key,
    recovery_key,
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}

const LINK = '#sign-in=';

/**
 * An address that opens the form to sign in, filled in. The part after `#` never reaches the service. The
 * recovery key is not in it, because a browser may keep the address in its history.
 */
export const signInLink = ({ id, handle, sign_in_key }: Keys): string =>
  `${location.origin}/me${LINK}${handle ?? id}.${sign_in_key}`;

/** Reads the address of `signInLink` that was opened, and removes the key from the address bar. */
export function takeLinkedProof(): { id: string; key: string } | undefined {
  if (!location.hash.startsWith(LINK)) return undefined;
  const [id = '', key = ''] = location.hash.slice(LINK.length).split('.');
  history.replaceState(null, '', location.pathname + location.search);
  return { id, key };
}

/** Parses a key file. Returns undefined for any other text. */
export function readKeyFile(text: string): Partial<Keys> | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    const file = JSON.parse(text) as Record<string, unknown>;
    const names = ['id', 'handle', 'sign_in_key', 'recovery_key'] as const;
    const entries = names.flatMap((name) => {
      const value = file[name];
      return typeof value === 'string' ? [[name, value.trim()] as const] : [];
    });
    return entries.length > 0 ? Object.fromEntries(entries) : undefined;
  } catch {
    return undefined;
  }
}

/** Downloads the keys as a file; its name has the date, because keys can be replaced. */
export function download(keys: Keys): void {
  const day = new Date().toISOString().slice(0, 10);
  saveFile(`guestbook-keys-${keys.handle ?? keys.id}-${day}.json`, keyFileText(keys));
}

/** Downloads JSON text as a file. */
export function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
