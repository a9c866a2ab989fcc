import { createHash, createPublicKey, sign } from 'node:crypto';
import { parseCheckpoint } from '../../platform/tlog/checkpoint.ts';
import { EMPTY_ROOT, isConsistent } from '../../platform/tlog/merkle.ts';
import { fromBase64, openNote, signingKey, type VerifierKey } from '../../platform/tlog/note.ts';
import { startReceiver } from './receiver.ts';

type Answer = Parameters<typeof startReceiver>[1];

/** A key of a witness with this name, and a function that co-signs the text of a checkpoint. */
export function createWitnessKey(name: string, seed: number) {
  const key = signingKey(Buffer.alloc(32, seed));
  const raw = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32);
  const encoded = Buffer.concat([Buffer.from([4]), raw]);
  const id = createHash('sha256').update(`${name}\n`).update(encoded).digest().subarray(0, 4);
  const cosign = (text: string, time = 1_790_000_000): string => {
    const at = Buffer.alloc(8);
    at.writeBigUInt64BE(BigInt(time));
    const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${time}\n${text}`), key);
    return `— ${name} ${Buffer.concat([id, at, signature]).toString('base64')}\n`;
  };
  return { vkey: `${name}+${id.toString('hex')}+${encoded.toString('base64')}`, cosign };
}

/**
 * Starts a witness of C2SP tlog-witness on loopback, which co-signs only what continues the tree that it has seen. While
 * `state.answer` is set, that answers instead.
 */
export async function startWitness(
  t: Parameters<typeof startReceiver>[0],
  name: string,
  log: () => VerifierKey,
) {
  const key = createWitnessKey(name, name.length);
  let seen = { size: 0, root: EMPTY_ROOT };
  const state: { answer?: Answer } = {};
  const { url, calls } = await startReceiver(t, (response, call) => {
    if (state.answer) return state.answer(response, call);
    const [head = '', ...rest] = call.body.split('\n\n');
    const [first = '', ...proof] = head.split('\n');
    const text = openNote(rest.join('\n\n'), [log()]);
    const checkpoint = text === undefined ? undefined : parseCheckpoint(text);
    if (!checkpoint || text === undefined) return void response.writeHead(403).end();
    if (first !== `old ${seen.size}`)
      return void response
        .writeHead(409, { 'content-type': 'text/x.tlog.size' })
        .end(`${seen.size}\n`);
    const hashes = proof.map((line) => fromBase64(line) ?? Buffer.alloc(0));
    if (!isConsistent(seen, checkpoint, hashes)) return void response.writeHead(422).end();
    seen = checkpoint;
    response.end(key.cosign(text));
  });
  return { calls, state, vkey: key.vkey, setting: `${key.vkey} ${url}/w` };
}
