import { memberOwner } from '../../domain/owners.ts';
import { readStream, streamVersion } from '../../platform/eventstore/append.ts';
import { definePlan } from '../../platform/eventstore/plan.ts';
import type { Service } from './service.ts';

/** Appends one event to a stream with a moderator as actor, while `members` are locked. */
export function appendTo({ core }: Service, members: readonly string[]) {
  return (
    owner: string,
    stream: string,
    type: string,
    data: object,
    personal: object | null = null,
  ) =>
    core.store.execute(
      definePlan({
        lock: members,
        load: readStream(memberOwner(owner), stream),
        decide: ({ rows }) => ({
          answer: null,
          appends: [
            {
              owner: memberOwner(owner),
              stream,
              version: streamVersion(rows),
              actor: { type: 'moderator' as const },
              events: [{ type, data, personal } as never],
            },
          ],
        }),
      }),
    );
}
