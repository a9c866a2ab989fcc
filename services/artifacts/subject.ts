import { artifactRecords, authorsOf } from '../../projections/records.ts';
import { replay } from '../eventstore/decider.ts';
import { nobody, type Subject } from '../subject.ts';
import { artifact } from './artifact.ts';

export const artifactSubject: Subject = {
  type: 'artifact',
  stream: (id) => `artifact-${id}`,
  records: artifactRecords,
  members: (id) => authorsOf(artifactRecords([id])),
  concerned: nobody,
  decide: (facts, command) => artifact.decide(replay(artifact, facts), command),
};
