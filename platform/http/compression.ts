import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { readQualities } from './accept.ts';
import type { Content } from './route.ts';

/**
 * Compresses responses. Two kinds stay uncompressed: streams, because their readers wait for each
 * chunk, and bodies below one packet, where compression saves nothing.
 *
 * Compression can leak a secret if a response contains the secret beside an attacker's text and the
 * attacker sees its length (BREACH). No response contains a secret of its caller: keys, tokens and
 * cookies are never sent back in a body. Both session cookies are also SameSite=Strict, so no other
 * site can make a browser fetch an authenticated page or read.
 */

export type Encoding = 'br' | 'gzip';

const ENCODINGS = ['br', 'gzip'] as const;
const MIN_BYTES = 1024;
const COMPRESSIBLE = /^(text\/|application\/((atom|feed)\+)?(json|xml)\b)/;

/**
 * Levels by how long the bytes are served. Of a page of 43 kB, brotli makes 4.4 kB at level 1 in
 * 0.3 ms of processor time, 4.0 kB at level 4 in 0.8 ms, 3.7 kB at level 5 in 1.5 ms, and hardly less
 * at level 9 in 14 ms. Of the console's script, 154 kB, level 9 makes 52.3 kB and level 11 48.8 kB in 0.4 s, which each
 * file of the build costs once in a process.
 */
const LEVELS = {
  once: { brotli: 1, gzip: 1 },
  'until-changed': { brotli: 5, gzip: 6 },
  always: { brotli: 9, gzip: 9 },
  built: { brotli: 11, gzip: 9 },
};

/** Whether a response body may be compressed, and so depends on `Accept-Encoding`. */
export const isCompressible = (type: string, bytes: number): boolean =>
  bytes >= MIN_BYTES && COMPRESSIBLE.test(type);

/**
 * Returns the encoding that `Accept-Encoding` prefers, brotli on a tie; undefined for no
 * compression.
 */
export function preferredEncoding(header: string | undefined): Encoding | undefined {
  if (header === undefined) return undefined;
  const qualities = readQualities(header);
  const qualityOf = (coding: string) => qualities.get(coding) ?? qualities.get('*') ?? 0;
  let best: Encoding | undefined;
  let most = qualities.get('identity') ?? 0;
  for (const encoding of ENCODINGS) {
    const quality = qualityOf(encoding);
    if (quality > 0 && (best ? quality > most : quality >= most)) {
      best = encoding;
      most = quality;
    }
  }
  return best;
}

const compressed = new WeakMap<Content, Partial<Record<Encoding, Promise<Uint8Array>>>>();

/** Compresses content once per encoding, for all responses that share the same `Content` object. */
export function compressBody(content: Content, encoding: Encoding): Promise<Uint8Array> {
  const forms = compressed.get(content) ?? {};
  compressed.set(content, forms);
  forms[encoding] ??= compress[encoding](
    Buffer.from(content.bytes as Uint8Array),
    LEVELS[content.served ?? 'once'],
  );
  return forms[encoding];
}

type Levels = (typeof LEVELS)['once'];

const [brotli, gzipped] = [promisify(brotliCompress), promisify(gzip)];

const compress = {
  br: (bytes: Uint8Array, { brotli: level }: Levels): Promise<Uint8Array> =>
    brotli(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: level,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  gzip: (bytes: Uint8Array, { gzip: level }: Levels): Promise<Uint8Array> =>
    gzipped(bytes, { level }),
};
