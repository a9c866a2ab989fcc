import { recordPath } from '../../services/navigation.ts';
import type { ActivityEntry, ActivityNote, People, ViewOf } from '../../services/pages/view.ts';
import { AuthorName } from '../shared/text.tsx';
import { dayOf, TimeOfDay } from '../shared/time.tsx';
import { Empty, Filters, Pager, PersonName, RecordLink } from './parts.tsx';

type ActivityType = ActivityEntry['type'];

const WORDS: Readonly<Record<Exclude<ActivityType, 'note.approved'>, string>> = {
  'profile.published': 'published a profile',
  'artifact.published': 'published a packet',
  'case.opened': 'opened a case',
  'case.claimed': 'claimed a case',
  'case.submitted': 'submitted work to a case',
  'case.accepted': 'accepted work on a case',
};

const FILTERS = [
  ['note.approved', 'Notes'],
  ['profile.published', 'Profiles'],
  ['artifact.published', 'Packets'],
  ['case.opened', 'Cases opened'],
  ['case.accepted', 'Cases accepted'],
] as const satisfies readonly (readonly [ActivityType, string])[];

export function Activity({ of, entries, people, notes, older }: ViewOf<'activity'>) {
  const days = Map.groupBy(entries, ({ occurred_at }) => dayOf(occurred_at));
  return (
    <>
      <h1>Activity</h1>
      <p class="lead">What happened in public, newest first.</p>
      <Filters label="Type" path="/activity" name="type" all={FILTERS} chosen={of} />
      {entries.length === 0 && (
        <Empty>{of ? 'Nothing of this type.' : 'Nothing has happened in public yet.'}</Empty>
      )}
      {[...days].map(([day, ofDay]) => (
        <section key={day} aria-label={day}>
          <h2>{day}</h2>
          <ol class="lines timed">
            {ofDay.map((entry) => (
              <li key={entry.id}>
                <p>
                  <Line entry={entry} people={people} note={notes[entry.subject.id]} />
                </p>
                <span class="hint">
                  <TimeOfDay at={entry.occurred_at} />
                </span>
              </li>
            ))}
          </ol>
        </section>
      ))}
      <Pager older={older} word="Older activity" />
    </>
  );
}

interface LineProps {
  entry: ActivityEntry;
  people: People;
  /** The note that the entry is about, if it is about one. */
  note: ActivityNote | undefined;
}

function Line({ entry: { actor, type, title, subject }, people, note }: LineProps) {
  const href = recordPath({ kind: subject.type, id: subject.id }, people);
  if (type === 'note.approved')
    return (
      <>
        <AuthorName name={note?.name ?? ''} byMember={note?.byMember ?? false} />{' '}
        {note?.isReply ? 'replied' : 'wrote'}: “
        <RecordLink href={href} title={`${title}${note?.isCut ? '…' : ''}`} />”
      </>
    );
  return (
    <>
      {actor.type === 'member' && actor.id && (
        <>
          <PersonName id={actor.id} people={people} />{' '}
        </>
      )}
      {WORDS[type]}: <RecordLink href={href} title={title} />
    </>
  );
}
