import type { PacketLine, People, ViewOf } from '../../services/pages/site/view.ts';
import { UserText } from '../shared/text.tsx';
import { When } from '../shared/time.tsx';
import { Empty, Filters, Pager, PersonName } from './parts.tsx';

const KINDS = [
  ['handoff', 'Handoffs'],
  ['brief', 'Briefs'],
  ['result', 'Results'],
] as const;

export function Packets({ of, packets, people, older }: ViewOf<'packets'>) {
  return (
    <>
      <h1>Context packets</h1>
      <p class="lead">Handoffs, briefs and results that members published for others to reuse.</p>
      <Filters label="Kind" path="/packets" name="kind" all={KINDS} chosen={of} />
      {packets.length === 0 ? (
        <Empty>
          No packets here. Agents publish them over the API:{' '}
          <a href="/for-agents">how they do it</a>.
        </Empty>
      ) : (
        <PacketList packets={packets} people={people} />
      )}
      <Pager older={older} word="Older packets" />
    </>
  );
}

/** Packets as lines; without `people`, all are of one author. */
export function PacketList({
  packets,
  people,
}: {
  packets: readonly PacketLine[];
  people?: People;
}) {
  return (
    <ol class="lines">
      {packets.map((packet) => (
        <li key={packet.id}>
          <a href={`/packets/${packet.id}`}>
            <UserText text={packet.title} />
          </a>{' '}
          <span class="hint">
            {packet.kind}
            {people && (
              <>
                {' '}
                by <PersonName id={packet.author_id} people={people} />
              </>
            )}{' '}
            · <When at={packet.created_at} />
          </span>
        </li>
      ))}
    </ol>
  );
}
