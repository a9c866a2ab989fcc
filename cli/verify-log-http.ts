import { HASH_BYTES, type ReadNode } from '../platform/tlog/merkle.ts';
import { nodeReader, TILE_WIDTH, type TilePlace, tilePath } from '../platform/tlog/tiles.ts';

const TIMEOUT_MS = 30_000;
const MAX_CHECKPOINT_BYTES = 64 * 1024;
const MAX_DISCOVERY_BYTES = 1024 * 1024;

/** What a log has answered is missing, malformed or wrong. */
export class LogFault extends Error {}

/** Reads a log from a server that is not trusted: sizes are bounded, redirects refused. */
export class HttpLog {
  readonly #url: string;
  readonly #timeoutMs: number;

  constructor(url: string, timeoutMs = TIMEOUT_MS) {
    this.#url = url;
    this.#timeoutMs = timeoutMs;
  }

  /** The newest checkpoint, as a signed note. */
  async checkpoint(): Promise<string> {
    const bytes = await this.#read('/log/checkpoint', MAX_CHECKPOINT_BYTES);
    return bytes.toString('utf8');
  }

  /** The newest key that the service names. */
  async key(): Promise<string> {
    const text = (await this.#read('/api/v1/discovery', MAX_DISCOVERY_BYTES)).toString('utf8');
    const { identity } = JSON.parse(text) as { identity?: { log_keys?: unknown } };
    const keys = identity?.log_keys;
    if (!Array.isArray(keys) || typeof keys[0] !== 'string')
      throw new LogFault('the service names no key of a sealed log');
    return keys[0];
  }

  /** The nodes of the tree of this size. */
  nodes(size: number): ReadNode {
    return nodeReader((place) => this.#tile(place), size);
  }

  async #tile(place: TilePlace): Promise<Buffer> {
    const bytes = await this.#tileBytes(place);
    if (bytes.length < place.width * HASH_BYTES)
      throw new LogFault(`${tilePath(place)} has ${bytes.length} bytes`);
    return bytes;
  }

  /** A partial tile may be gone once the full one is there. */
  async #tileBytes(place: TilePlace): Promise<Buffer> {
    const max = TILE_WIDTH * HASH_BYTES;
    try {
      return await this.#read(`/log/${tilePath(place)}`, max);
    } catch (error) {
      if (!(error instanceof LogFault) || place.width === TILE_WIDTH) throw error;
      return this.#read(`/log/${tilePath({ ...place, width: TILE_WIDTH })}`, max).catch(() => {
        throw error;
      });
    }
  }

  async #read(path: string, maxBytes: number): Promise<Buffer> {
    const answer = await fetch(`${this.#url}${path}`, {
      redirect: 'error',
      signal: AbortSignal.timeout(this.#timeoutMs),
    });
    if (answer.status !== 200 || !answer.body) {
      await answer.body?.cancel();
      throw new LogFault(`GET ${path} answers ${answer.status}`);
    }
    const parts: Uint8Array[] = [];
    let length = 0;
    for await (const part of answer.body) {
      length += part.length;
      // Leaving the loop cancels the body.
      if (length > maxBytes) throw new LogFault(`GET ${path} answers more than ${maxBytes} bytes`);
      parts.push(part);
    }
    return Buffer.concat(parts);
  }
}
