import t from 'tap';
import { artifact } from '../../../domain/artifacts/artifact.ts';
import { profile } from '../../../domain/profiles/profile.ts';
import type { Removal, RemovalCommand } from '../../../domain/publications/removal.ts';
import { isRefusal } from '../../../platform/refusal.ts';

const author = '2d8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f62';
const artifactId = '0b8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f60';
const remover = '3e8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f63';
const second = '4f8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f64';
const now = new Date('2026-09-12T10:00:00.000Z');
const removal: Removal = {
  eventId: '01890000-0000-7000-8000-000000000001',
  policy: 'spam',
  by: remover,
  undoUntil: new Date('2026-09-12T10:10:00.000Z'),
};

const remove = (expectedVersion: number): RemovalCommand => ({
  type: 'Remove',
  expectedVersion,
  policy: 'spam',
  message: 'An advertisement',
  claimedAt: now.toISOString(),
});
const undo = (of = removal.eventId, at = now, anyTime = false): RemovalCommand => ({
  type: 'UndoRemoval',
  anyTime,
  of,
  removal,
  now: at,
});
const restore = (expectedVersion: number, by = second): RemovalCommand => ({
  type: 'Restore',
  expectedVersion,
  by,
  removal,
});
const tell = (of = removal.eventId): RemovalCommand => ({ type: 'TellRemoval', of, removal });

const publishedProfile = {
  type: 'PublishProfile' as const,
  content: { display_name: 'Ada', summary: 'Counts', links: [], capabilities: [] },
  policyVersion: 'service-public-v1',
  expectedVersion: undefined,
  untold: null,
};
const publishedArtifact = {
  type: 'PublishArtifact' as const,
  artifactId,
  authorId: author,
  kind: 'brief' as const,
  title: 'A packet',
  contentHash: 'a'.repeat(64),
  packet: '{}',
  policyVersion: 'service-public-v1',
  supersedesId: null,
};

// The same rule for two kinds of record; each runs commands after a first publication.
const kinds = [
  {
    prefix: 'Profile',
    run: (...commands: RemovalCommand[]) => run(profile, publishedProfile, commands),
    withdrawn: (...commands: RemovalCommand[]) =>
      run(profile, publishedProfile, [...commands, { type: 'WithdrawProfile', reason: 'author' }]),
  },
  {
    prefix: 'Artifact',
    run: (...commands: RemovalCommand[]) => run(artifact, publishedArtifact, commands),
    withdrawn: (...commands: RemovalCommand[]) =>
      run(artifact, publishedArtifact, [
        ...commands,
        { type: 'WithdrawArtifact', authorId: author, reason: 'author' },
      ]),
  },
];

/** The outcome of the last command, and the state after it. */
// biome-ignore lint/suspicious/noExplicitAny: two deciders of different types
function run(decider: any, first: unknown, commands: unknown[]) {
  let state = decider.initial;
  let last: { types: string[]; data: unknown; reason: unknown; status: string } | undefined;
  for (const command of [first, ...commands]) {
    const decided = decider.decide(state, command);
    const refused = isRefusal(decided);
    if (!refused) state = decided.reduce(decider.evolve, state);
    last = {
      types: refused ? [] : decided.map(({ type }: { type: string }) => type),
      data: refused ? decided.details : decided[0]?.data,
      reason: refused ? (decided.details?.reason ?? decided.refused) : undefined,
      status: state.status,
    };
  }
  return last;
}

for (const { prefix, run, withdrawn } of kinds) {
  t.test(`${prefix}: a removal needs the expected version`, async (t) => {
    t.match(run(remove(1)), {
      types: [`${prefix}Removed`],
      status: 'removed',
      data: { policy: 'spam', claimed_at: now.toISOString() },
    });
    t.match(run(remove(2)), { data: { reason: 'version_mismatch', current_version: 1 } });
    t.match(run(remove(1), remove(1)), { data: { reason: 'version_mismatch' } });
    t.match(run(remove(1), remove(2)), { reason: 'wrong_state', status: 'removed' });
    t.match(withdrawn(), { types: [`${prefix}Withdrawn`], status: 'withdrawn' });
  });

  t.test(`${prefix}: an undo reverts only the last removal, in time and once`, async (t) => {
    t.match(run(remove(1), undo()), {
      types: [`${prefix}Restored`],
      data: { of: removal.eventId, undone: true, told: false },
      status: 'published',
    });
    t.match(run(remove(1), undo(), undo()), { reason: 'wrong_state' });
    t.match(run(remove(1), undo(artifactId)), { reason: 'wrong_state' });
    t.match(run(remove(1), undo(removal.eventId, removal.undoUntil)), { reason: 'undo_expired' });
    t.match(run(remove(1), undo(removal.eventId, removal.undoUntil, true)), {
      status: 'published',
    });
    t.match(run(undo()), { reason: 'wrong_state' });
  });

  t.test(`${prefix}: only a second person restores`, async (t) => {
    t.match(run(remove(1), restore(2, remover)), { reason: 'second_person_required' });
    t.match(run(remove(1), restore(1)), { reason: 'version_mismatch' });
    t.match(run(remove(1), restore(2)), {
      types: [`${prefix}Restored`],
      data: { undone: false },
      status: 'published',
    });
    t.match(run(restore(1)), { reason: 'wrong_state' });
    t.match(run(restore(2)), { reason: 'version_mismatch' });
  });

  t.test(`${prefix}: a final removal is announced once`, async (t) => {
    t.match(run(remove(1), tell()), {
      types: [`${prefix}RemovalTold`],
      data: { of: removal.eventId, policy: 'spam' },
      status: 'removed',
    });
    t.match(run(remove(1), tell(), tell()), { types: [], reason: undefined });
    t.match(run(remove(1), tell(artifactId)), { types: [] });
    t.match(run(remove(1), undo(), tell()), { types: [], status: 'published' });
    t.match(run(remove(1), tell(), restore(3)), { data: { told: true }, status: 'published' });
  });

  t.test(`${prefix}: no moderator restores what its author withdrew`, async (t) => {
    t.match(withdrawn(remove(1)), { types: [`${prefix}Withdrawn`], status: 'withdrawn' });
    const after = (command: RemovalCommand) =>
      prefix === 'Profile'
        ? run(remove(1), { type: 'WithdrawProfile', reason: 'author' } as never, command)
        : run(
            remove(1),
            { type: 'WithdrawArtifact', authorId: author, reason: 'author' } as never,
            command,
          );
    for (const command of [undo(), restore(3), remove(3)])
      t.match(after(command), { reason: 'wrong_state', status: 'withdrawn' });
  });
}
