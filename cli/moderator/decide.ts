import { ArgumentError, parseArguments } from '../../platform/command-line/arguments.ts';
import { createApiClient, explain, type Item } from './api.ts';
import { leave, say } from './terminal.ts';

/** Makes one decision on one note; the command's name is the action. */
export async function run(args: string[], action: string): Promise<void> {
  const options = { policy: { type: 'string' }, message: { type: 'string' } } as const;
  const {
    positionals: [id = ''],
    values,
  } = parseArguments(args, options, [1, 1]);
  const named = action === 'reject' || action === 'remove';
  if (named && !values.policy) throw new ArgumentError('A policy is missing: --policy CODE.');
  if (!named && (values.policy || values.message))
    throw new ArgumentError(`${action} takes neither --policy nor --message.`);
  const path = `notes/${encodeURIComponent(id)}`;
  const api = await createApiClient();

  // Claim a pending note first, so that no other moderator works on it unknowingly.
  const waits = action === 'approve' || action === 'reject';
  const [claim] = waits ? (await api.need('POST', 'claims', { note_ids: [id] })).claims : [];
  const item: Item = waits ? claim.item : (await api.need('GET', path)).item;
  const answer = await api.call('POST', `${path}/decisions`, {
    action,
    expected_version: item.version,
    ...values,
  });
  if (answer.status < 300) {
    const { state, undo_until, event_id } = answer.body;
    const until = undo_until ? `, may be undone until ${undo_until}` : '';
    say(`${id} is ${state}${until} (decision ${event_id})`);
    return;
  }
  if (claim) await api.call('POST', 'claims/release', { lease_ids: [claim.lease_id] });
  leave(`${explain(answer)}\n`);
}
