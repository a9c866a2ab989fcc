import t from 'tap';
import {
  type ArtifactCommand,
  type ArtifactState,
  artifact,
} from '../../../domain/artifacts/artifact.ts';
import { conflict } from '../../../domain/conflict.ts';
import { memberOwner } from '../../../domain/owners.ts';
import { isRefusal } from '../../../platform/refusal.ts';
import { closeArtifacts } from '../../../services/artifacts/closure-and-export.ts';
import { matchAll } from '../../support/match-all.ts';

const author = '2d8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f62';
const other = '3e8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f63';
const id = '0b8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f60';
const next = '1c8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f61';

const publish: ArtifactCommand = {
  type: 'PublishArtifact',
  artifactId: id,
  authorId: author,
  kind: 'brief',
  title: 'A packet',
  contentHash: 'a'.repeat(64),
  packet: '{"title":"A packet"}',
  policyVersion: 'service-public-v1',
  supersedesId: null,
};
const supersede = (authorId = author): ArtifactCommand => ({
  type: 'SupersedeArtifact',
  by: next,
  authorId,
});
const withdraw = (authorId = author): ArtifactCommand => ({
  type: 'WithdrawArtifact',
  authorId,
  reason: 'author',
});
const remove: ArtifactCommand = {
  type: 'Remove',
  expectedVersion: 1,
  policy: 'spam',
  message: null,
  claimedAt: null,
};

/** The state after commands that must all be accepted. */
function after(...commands: ArtifactCommand[]): ArtifactState {
  return commands.reduce<ArtifactState>((state, command) => {
    const decided = artifact.decide(state, command);
    if (isRefusal(decided)) throw new Error(`${command.type}: ${JSON.stringify(decided)}`);
    return decided.reduce(artifact.evolve, state);
  }, artifact.initial);
}

const reasonOf = (state: ArtifactState, command: ArtifactCommand) => {
  const decided = artifact.decide(state, command);
  return isRefusal(decided) ? (decided.details?.reason ?? decided.refused) : 'accepted';
};

t.test('publishes a packet once under its id, with its texts as personal data', async (t) => {
  t.same(artifact.decide(artifact.initial, publish), [
    {
      type: 'ArtifactPublished',
      data: {
        artifact_id: id,
        author_id: author,
        kind: 'brief',
        supersedes_id: null,
        policy_version: 'service-public-v1',
      },
      personal: {
        title: 'A packet',
        content_hash: 'a'.repeat(64),
        packet: '{"title":"A packet"}',
      },
    },
  ]);
  t.equal(reasonOf(after(publish), publish), 'wrong_state');
});

t.test('accepts one successor per packet, by its author, also if withdrawn', async (t) => {
  t.match(after(publish, supersede()), { status: 'published', supersededBy: next, version: 2 });
  const unavailable = 'supersedes_unavailable';
  t.equal(reasonOf(artifact.initial, supersede()), unavailable);
  t.equal(reasonOf(after(publish), supersede(other)), unavailable);
  t.equal(reasonOf(after(publish, supersede()), supersede()), unavailable);
  t.match(after(publish, withdraw(), supersede()), { status: 'withdrawn', supersededBy: next });
  t.match(after(publish, remove, supersede()), { status: 'removed', supersededBy: next });
});

t.test('lets only its author withdraw a packet, once', async (t) => {
  t.match(after(publish, withdraw()), { status: 'withdrawn', version: 2 });
  t.match(after(publish, supersede(), withdraw()), { status: 'withdrawn', supersededBy: next });
  t.equal(reasonOf(artifact.initial, withdraw()), 'not_found');
  t.equal(reasonOf(after(publish), withdraw(other)), 'not_author');
  t.same(
    artifact.decide(after(publish, withdraw()), withdraw()),
    conflict('wrong_state', { current_state: 'withdrawn', current_version: 2 }),
  );
});

t.test('withdraws the remaining packets of a closed account, each at its version', async (t) => {
  matchAll(t, closeArtifacts(author, [{ artifact_id: id, version: 2 }]), [
    {
      owner: memberOwner(author),
      stream: `artifact-${id}`,
      version: 2,
      events: [{ type: 'ArtifactWithdrawn', data: { artifact_id: id, reason: 'deactivated' } }],
    },
  ]);
});
