import { setTimeout as sleep } from 'node:timers/promises';
import { anyAddress, type SharedRunState, uuid } from './client.ts';
import { type Answer, done } from './history.ts';
import type { Limits } from './limits.ts';
import { createProofMember, type Member } from './member.ts';
import type { Moderator } from './moderator.ts';
import { createOperations, guestNote } from './operations.ts';
import type { Random } from './random.ts';

/** Concurrent registrations as the seats run out. */
const SEEKERS = 12;

const times = <Result>(count: number, work: (index: number) => Result): Result[] =>
  Array.from({ length: count }, (_, index) => work(index));

/**
 * Bursts of concurrent requests on one target or across one limit, which expose a missing lock,
 * receipt or check.
 */
export function createContention(
  common: SharedRunState,
  moderators: readonly Moderator[],
  limits: Limits,
) {
  const { history } = common;
  let born = 0;

  async function aNote(random: Random): Promise<string | undefined> {
    const id = uuid(random);
    const submitted = await guestNote(common, random, { id, message: 'Decide on me' });
    return done(submitted) ? id : undefined;
  }

  /** Records a violation if more than one of several conflicting requests succeeded. */
  function onlyOne(what: string, answers: (Answer | undefined)[]): void {
    const successes = answers.filter(done).length;
    if (successes > 1) history.wrong.push(`${what}: ${successes} succeeded at once`);
  }

  /** `guests` collects the members that register for the burst. */
  function openBurst(guests: Member[]) {
    function stranger(random: Random): Member {
      const member = createProofMember(common, random, `burst_${++born}_${random.below(1e6)}`);
      guests.push(member);
      return member;
    }

    async function newcomer(random: Random) {
      const member = stranger(random);
      if (await member.register()) await member.renew();
      return { member, ...createOperations(common, random, member) };
    }

    return {
      async 'credentials beyond the limit'(random: Random) {
        const { member } = await newcomer(random);
        await Promise.all(times(limits.credentials + 6, () => member.bootstrap()));
      },
      async 'writes beyond the budget'(random: Random) {
        const { openCase, publishProfile } = await newcomer(random);
        await Promise.all(
          times(limits.writes + 10, (index) => (index % 2 ? openCase() : publishProfile())),
        );
      },
      async 'one request many times'(random: Random) {
        const { member, openCase, publishProfile } = await newcomer(random);
        await Promise.all([
          ...times(3, () => openCase(undefined, 5)),
          publishProfile(undefined, 5),
          member.bootstrap(undefined, 5),
          guestNote(common, random, { id: uuid(random), message: 'Again' }, { copies: 5 }),
        ]);
      },
      async 'one credential rotated by many'(random: Random) {
        const { member } = await newcomer(random);
        const used = member.credential();
        await Promise.all(times(6, () => member.rotate(used)));
      },
      async 'one note decided on by many'(random: Random) {
        const note = await aNote(random);
        if (!note) return;
        const decisions = moderators.map(({ decide }, index) =>
          decide(note, 1, index % 2 ? { action: 'approve' } : { action: 'reject', policy: 'spam' }),
        );
        onlyOne(`decisions on ${note}`, await Promise.all(decisions));
      },
      async 'one note claimed by many'(random: Random) {
        const note = await aNote(random);
        if (!note) return;
        const claims = await Promise.all(
          moderators.map(({ claim }) => claim({ note_ids: [note] })),
        );
        onlyOne(`claims of ${note}`, claims);
        await Promise.all(moderators.map(({ giveBack }, index) => giveBack(claims[index])));
      },
      async 'notes from one address'(random: Random) {
        const address = anyAddress(random);
        await Promise.all(
          times(limits.notes + 6, (index) =>
            guestNote(common, random, { id: uuid(random), message: `Note ${index}` }, { address }),
          ),
        );
      },
      async 'registrations from one address'(random: Random) {
        const address = anyAddress(random);
        await Promise.all(
          times(limits.registrations + 3, () => stranger(random).register(address)),
        );
      },
      async 'the last seats'(random: Random) {
        for (let turn = 0; turn < limits.members; turn += SEEKERS) {
          const seekers = times(SEEKERS, () => stranger(random));
          const seated = await Promise.all(seekers.map((member) => member.register()));
          if (seated.includes(false)) return;
        }
      },
      async 'sign-ins from one address'(random: Random) {
        const { member } = await newcomer(random);
        const address = anyAddress(random);
        const body = { id: member.id, sign_in_key: '0'.repeat(64) };
        const path = '/api/membership/login';
        await Promise.all(
          times(limits.attempts + 6, () =>
            member.post('membership.attempt', path, body, { address }),
          ),
        );
      },
      async 'a credential revoked amid its writes'(random: Random) {
        const { member, openCase } = await newcomer(random);
        const made = await member.bootstrap();
        if (!made) return;
        const hands = times(8, async (hand) => {
          await sleep(hand * 4);
          for (let n = 0; n < 3; n++) await openCase(made);
        });
        await sleep(random.below(40));
        await member.revoke(made);
        await Promise.all([...hands, openCase(made)]);
      },
      async 'keys recovered amid writes'(random: Random) {
        const { member, openCase } = await newcomer(random);
        const used = member.credential();
        const hands = times(8, async () => {
          for (let n = 0; n < 2; n++) await openCase(used);
        });
        await sleep(random.below(30));
        await Promise.all([member.recover(), ...hands]);
      },
      async 'an account deleted amid its writes'(random: Random) {
        const { member, openCase, publishProfile } = await newcomer(random);
        const used = member.credential();
        const hands = times(6, async () => {
          await publishProfile(used);
          await openCase(used);
        });
        await sleep(random.below(40));
        await Promise.all([member.remove(), ...hands]);
      },
    };
  }

  /** Runs a burst; its guests leave afterwards, to free their seats. */
  async function run(name: string, random: Random): Promise<void> {
    const guests: Member[] = [];
    await openBurst(guests)[name as BurstName](random);
    await Promise.all(guests.map((member) => member.leave()));
  }

  type BurstName = keyof ReturnType<typeof openBurst>;
  return { names: Object.keys(openBurst([])), run };
}
