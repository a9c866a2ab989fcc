import t from 'tap';
import { conflict } from '../../../domain/conflict.ts';
import { memberOwner } from '../../../domain/owners.ts';
import {
  type ProfileCommand,
  type ProfileState,
  profile,
} from '../../../domain/profiles/profile.ts';
import { isRefusal } from '../../../platform/refusal.ts';
import type { ProfileRow } from '../../../projections/profiles/profiles.ts';
import { profileClosure } from '../../../services/profiles/closure-and-export.ts';
import { profileStream } from '../../../services/profiles/profile-stream.ts';
import { matchAll } from '../../support/match-all.ts';

const memberId = '2d8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f62';
const content = { display_name: 'Ada', summary: 'Counts', links: [], capabilities: ['counting'] };
const publish = (
  expectedVersion?: number,
  untold: { of: string; policy: string } | null = null,
): ProfileCommand => ({
  type: 'PublishProfile',
  content,
  policyVersion: 'service-public-v1',
  expectedVersion,
  untold,
});
const withdraw: ProfileCommand = { type: 'WithdrawProfile', reason: 'author' };
const remove: ProfileCommand = {
  type: 'Remove',
  expectedVersion: 1,
  policy: 'spam',
  message: null,
  claimedAt: null,
};

/** The state after commands that must all be accepted. */
function after(...commands: ProfileCommand[]): ProfileState {
  return commands.reduce<ProfileState>((state, command) => {
    const decided = profile.decide(state, command);
    if (isRefusal(decided)) throw new Error(`${command.type}: ${JSON.stringify(decided.details)}`);
    return decided.reduce(profile.evolve, state);
  }, profile.initial);
}

t.test('publishes a profile repeatedly, each time as a new version', async (t) => {
  t.same(profile.decide(profile.initial, publish()), [
    {
      type: 'ProfilePublished',
      data: { policy_version: 'service-public-v1' },
      personal: content,
    },
  ]);
  t.match(after(publish(), publish()), { status: 'published', version: 2 });
  t.match(after(publish(0), publish(1), withdraw, publish(3)), { version: 4 });
  t.match(after(publish(), remove, publish()), { status: 'published', version: 3 });
});

t.test('announces a pending removal before a profile is republished', async (t) => {
  const untold = { of: memberId, policy: 'spam' };
  matchAll(t, profile.decide(after(publish(), remove), publish(2, untold)), [
    { type: 'ProfileRemovalTold', data: untold },
    { type: 'ProfilePublished' },
  ]);
  t.match(after(publish(), remove, publish(2, untold)), { status: 'published', version: 4 });
});

t.test('requires the current version as the expected version', async (t) => {
  for (const [state, expected] of [
    [profile.initial, 1],
    [after(publish()), 0],
    [after(publish()), 2],
    [after(publish(), withdraw), 1],
  ] as const)
    t.same(
      profile.decide(state, publish(expected)),
      conflict('version_mismatch', { current_version: state.version }),
    );
});

t.test('withdraws only a published profile, once', async (t) => {
  t.match(after(publish(), withdraw), { status: 'withdrawn', version: 2 });
  t.same(
    profile.decide(profile.initial, withdraw),
    conflict('wrong_state', { current_state: 'none', current_version: 0 }),
  );
  t.match(profile.decide(after(publish(), withdraw), withdraw), {
    details: { reason: 'wrong_state', current_state: 'withdrawn' },
  });
});

t.test('withdraws the profile of a closed account, also a removed one', async (t) => {
  const row = {
    member_id: memberId,
    ...content,
    version: 3,
    published_at: new Date(),
    removal_told: true,
  };
  const close = (found: ProfileRow | undefined) =>
    profileClosure.close(memberId, profileStream(memberId, found), new Date(), {
      eraseNotes: false,
    });
  for (const state of ['published', 'removed'] as const)
    matchAll(t, close({ ...row, state }), [
      {
        owner: memberOwner(memberId),
        stream: `profile-${memberId}`,
        version: 3,
        events: [{ type: 'ProfileWithdrawn', data: { reason: 'deactivated' } }],
      },
    ]);
  t.same(close({ ...row, state: 'withdrawn' }), []);
  t.same(close(undefined), []);
  t.same(profileStream(memberId, { ...row, state: 'removed' }).state, {
    status: 'removed',
    version: 3,
    told: true,
  });
});
