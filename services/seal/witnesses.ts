import type pg from 'pg';
import type { Config } from '../../platform/config.ts';
import { CallFailed, postForAnswer } from '../../platform/http/post-to-receiver.ts';
import type { LogWitness } from '../../platform/log-settings.ts';
import { query } from '../../platform/postgres/query.ts';
import { consistencyProof } from '../../platform/tlog/merkle.ts';
import { openNote } from '../../platform/tlog/note.ts';
import { type Cosigned, type PublicTree, publication, publish, storedNodes } from './tree-store.ts';

export interface WitnessDeps {
  config: Pick<Config, 'logWitnesses'>;
  pool: pg.Pool;
}

const MAX_ANSWER_BYTES = 4096;
/** The size of a tree, as `text/x.tlog.size`. */
const SIZE = /^(0|[1-9]\d{0,15})\n$/;

/**
 * Asks the witnesses that have not yet signed the last checkpoint, all at the same time, and publishes it with the
 * signatures that there are, so that a witness which is away delays a checkpoint by seconds and is asked again in the
 * next run. Without witnesses, the last checkpoint is public as it is. Resolves to what failed, by the names of witnesses.
 */
export async function publishCheckpoint({ config, pool }: WitnessDeps): Promise<{
  failures: Record<string, string>;
}> {
  const [tree] = await query(pool, publication());
  if (!tree) return { failures: {} };
  const { logWitnesses: witnesses } = config;
  if (witnesses.length === 0) {
    if (tree.published !== null) await query(pool, publish(tree.epoch, null));
    return { failures: {} };
  }
  const { checkpoint } = tree;
  // Signatures follow the checkpoint, so an earlier publication of it begins with it.
  let note = tree.published?.startsWith(checkpoint) ? tree.published : checkpoint;
  const left = witnesses.filter(({ key }) => openNote(note, [key]) === undefined);
  const answers = await Promise.all(left.map((witness) => cosign(witness, pool, tree)));
  const failures: Record<string, string> = {};
  const signers: string[] = [];
  for (const [index, answer] of answers.entries()) {
    const name = left[index]?.key.name ?? '';
    if (typeof answer === 'string') {
      note += answer;
      signers.push(name);
    } else failures[name] = answer.reason;
  }
  const missing = Object.entries(failures).map(([name, reason]) => `${name} (${reason})`);
  const summary = missing.length > 0 ? missing.join(', ') : null;
  if (note !== tree.published || summary !== tree.missing)
    await query(pool, publish(tree.epoch, { ...tree, checkpoint: note }, summary, signers));
  return { failures };
}

/** The line with the signature of a witness. */
async function cosign(
  witness: LogWitness,
  pool: pg.Pool,
  tree: PublicTree,
): Promise<string | CallFailed> {
  try {
    // A witness says of which tree it wants to see the continuation, if it is not this one.
    let answer = await send(witness, tree, tree.size, []);
    if (answer.status === 409 && answer.type === 'text/x.tlog.size') {
      const [, seen] = SIZE.exec(answer.body.toString('latin1')) ?? [];
      if (seen === undefined) return new CallFailed('malformed_size');
      const size = Number(seen);
      if (size > tree.size) return new CallFailed(`has_signed_${size}_events`);
      const proof = await consistencyProof(
        storedNodes(pool, tree.epoch, tree.size),
        size,
        tree.size,
      );
      answer = await send(witness, tree, size, proof);
    }
    if (answer.status !== 200) return new CallFailed(`status_${answer.status}`);
    const lines = answer.body.toString('utf8').split('\n');
    const line = lines.find((one) => openNote(`${tree.checkpoint}${one}\n`, [witness.key]));
    return line === undefined ? new CallFailed('not_signed') : `${line}\n`;
  } catch (error) {
    if (error instanceof CallFailed) return error;
    throw error;
  }
}

/** `POST add-checkpoint` of C2SP tlog-witness: https://c2sp.org/tlog-witness */
const send = (
  { url }: LogWitness,
  { checkpoint }: PublicTree,
  old: number,
  proof: readonly Buffer[],
) =>
  postForAnswer(
    {
      url: new URL(`${url.href.replace(/\/$/, '')}/add-checkpoint`),
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      body: `${[`old ${old}`, ...proof.map((hash) => hash.toString('base64'))].join('\n')}\n\n${checkpoint}`,
      privateHosts: [],
    },
    MAX_ANSWER_BYTES,
  );

/** How far one of the witnesses of `LOG_WITNESSES` is. */
export interface WitnessState {
  name: string;
  /** Whether the public checkpoint lacks its signature. */
  missing: boolean;
  /** When it last co-signed a checkpoint of this epoch, by the clock of the database; null if it never has. */
  cosignedAt: Date | null;
}

/** How far each witness is, in the order of `LOG_WITNESSES`. */
export const witnessStates = (
  witnesses: readonly LogWitness[],
  { checkpoint, cosigned }: Cosigned,
): WitnessState[] =>
  witnesses.map(({ key }) => {
    const at = new Map(Object.entries(cosigned ?? {})).get(key.name);
    return {
      name: key.name,
      missing: openNote(checkpoint, [key]) === undefined,
      cosignedAt: at === undefined ? null : new Date(at),
    };
  });
