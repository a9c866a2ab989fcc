import { v7 as uuidv7 } from 'uuid';
import { disabling, openAppeal } from '../../domain/disabling/disabling.ts';
import { disablingStream } from '../../domain/disabling/streams.ts';
import { readStream } from '../../platform/eventstore/append.ts';
import { type Command, type Decision, defineCommand } from '../../platform/eventstore/command.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { type MemberKey, readProof, refuseUnlessDisabled } from './proof.ts';

type Code = 'credentials_not_accepted' | 'state_conflict';

/** Opens the member's appeal against the disabling; another lead decides it. */
export function appealDisabling(
  keys: KeyRing,
  body: MemberKey & { text: string },
  undoSeconds: number,
): Command<{ status: 'appeal_opened' }, Code> {
  const { id, text } = body;
  const owner = memberOwner(id);
  const stream = disablingStream(id);
  const appealId = uuidv7();
  return defineCommand({
    lock: [id],
    load: { proof: readProof(id), events: readStream(owner, stream) },
    decide({ rows: { proof, events }, now }): Decision<{ status: 'appeal_opened' }, Code> {
      const refused = refuseUnlessDisabled(keys, body, proof);
      if (refused) return refused;
      const state = disabling.replay(events);
      const made = openAppeal(state, { appealId, text, undoSeconds, now });
      if (isRefusal(made)) return made;
      return {
        answer: { status: 'appeal_opened' },
        appends: [
          { owner, stream, version: state.version, actor: { type: 'member', id }, events: made },
        ],
      };
    },
  });
}
