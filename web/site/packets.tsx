import { stripInvisible } from '../../platform/visible-text.ts';
import type { Artifact, PacketLine, People, ViewOf } from '../../services/pages/view.ts';
import { foreign, UserText } from '../shared/text.tsx';
import { When } from '../shared/time.tsx';
import {
  Empty,
  Facts,
  Filters,
  ForeignLink,
  ForeignTitle,
  Pager,
  PersonName,
  Prose,
  SealedLink,
} from './parts.tsx';
import { ReportLink } from './report.tsx';

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

type Content<Kind> = Extract<Artifact['packet'], { kind: Kind }>['content'];

export function Packet({ artifact, supersededBy, people, sealed }: ViewOf<'packet'>) {
  const { packet } = artifact;
  return (
    <article class="record">
      <p class="kind">Context packet: {packet.kind}</p>
      <ForeignTitle text={packet.title} />
      <p class="meta">
        by <PersonName id={artifact.author_id} people={people} /> ·{' '}
        <When at={artifact.created_at} />
      </p>
      {supersededBy && (
        <p class="box look">
          There is a newer version:{' '}
          <a href={`/packets/${supersededBy}`}>the packet that supersedes it</a>.
        </p>
      )}
      <Prose text={packet.summary} />
      {packet.kind === 'handoff' && <Handoff content={packet.content} />}
      {packet.kind === 'brief' && <Brief content={packet.content} />}
      {packet.kind === 'result' && <Result content={packet.content} />}
      <h2>Provenance</h2>
      <Facts
        facts={[
          ['Claim', <UserText text={packet.provenance.claim_type} />],
          [
            'Observed',
            packet.provenance.observed_at && <When at={packet.provenance.observed_at} />,
          ],
          ['Reuse', <UserText text={packet.reuse_terms} />],
          [
            'Supersedes',
            packet.supersedes_id && (
              <a href={`/packets/${packet.supersedes_id}`}>
                Packet {packet.supersedes_id.slice(0, 8)}
              </a>
            ),
          ],
          ['SHA-256', <code class="code">{artifact.content_hash}</code>],
          ['Packet id', <code class="code">{artifact.id}</code>],
          ['Proof', sealed && <SealedLink sealed={sealed} />],
        ]}
      />
      {packet.provenance.source_refs.length > 0 && (
        <>
          <h2>Sources</h2>
          <ul class="links">
            {packet.provenance.source_refs.map((source) => (
              <li key={source}>
                <ForeignLink href={source} />
              </li>
            ))}
          </ul>
        </>
      )}
      <p>
        <ReportLink type="artifact" id={artifact.id} />
      </p>
    </article>
  );
}

const FOLDED_LINES = 40;

/** Text in lines as it is; folded where it is long. */
function Block({ text, name }: { text: string; name: string }) {
  const shown = stripInvisible(text);
  const lines = shown.split('\n').length;
  const block = (
    <pre {...foreign(text)} class="block foreign">
      {shown}
    </pre>
  );
  return lines > FOLDED_LINES ? (
    <details>
      <summary>
        {name}, {lines} lines
      </summary>
      {block}
    </details>
  ) : (
    block
  );
}

function Brief({ content }: { content: Content<'brief'> }) {
  return (
    <>
      <h2>Brief</h2>
      {content.format === 'markdown' && <p class="hint">Markdown, shown as it was written.</p>}
      <Block text={content.body} name="The brief" />
    </>
  );
}

function Result({ content }: { content: Content<'result'> }) {
  return (
    <>
      <h2>Outcome</h2>
      <Prose text={content.outcome} />
      {content.evidence.length > 0 && (
        <>
          <h2>Evidence</h2>
          <ol class="criteria">
            {content.evidence.map((piece, index) => (
              <li key={index}>
                <Prose text={piece.description} />
                {piece.source_ref && (
                  <p>
                    <ForeignLink href={piece.source_ref} />
                  </p>
                )}
                {piece.sha256 && <code class="code">{piece.sha256}</code>}
              </li>
            ))}
          </ol>
        </>
      )}
    </>
  );
}

function Handoff({ content }: { content: Content<'handoff'> }) {
  const { portable_fixture: fixture, scope, saved_cursor_return_path: back } = content;
  return (
    <>
      <h2>Objective</h2>
      <Prose text={content.objective} />
      <h2>Acceptance criteria</h2>
      <TextList texts={content.acceptance_criteria} />
      <h2>Scope</h2>
      <Facts
        facts={[
          ['Mode', <UserText text={scope.mode} />],
          ['Boundary', <UserText text={scope.authorization_boundary} />],
        ]}
      />
      <TextList texts={scope.permitted} />
      <h2>Portable fixture</h2>
      <Prose text={fixture.purpose} />
      <Facts
        facts={[
          ['File', <code class="code foreign">{fixture.artifact.path}</code>],
          ['Bytes', fixture.artifact.bytes],
          ['SHA-256', <code class="code">{fixture.artifact.sha256}</code>],
          ['Runs outside', fixture.external_execution ? 'yes' : 'no'],
        ]}
      />
      <div class="wide">
        <table>
          <thead>
            <tr>
              <th scope="col">Case</th>
              <th scope="col">Change</th>
              <th scope="col">Expected state</th>
              <th scope="col">Next action</th>
            </tr>
          </thead>
          <tbody>
            {fixture.cases.map(({ name, mutation, expected }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>
                  <UserText text={mutation} />
                </td>
                <td>{expected.state}</td>
                <td>{expected.next_action}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <TextList texts={fixture.trust_assumptions} />
      <h2>Return path</h2>
      <Prose text={back.instruction} />
      <h2>Example</h2>
      <Block text={content.author_example} name="Example of the author" />
      <h2>Inputs</h2>
      <Facts
        facts={[
          ['Origin', <UserText text={content.baseline_inputs.input_origin} />],
          ['Ledger', <code class="code foreign">{content.baseline_inputs.operation_ledger}</code>],
        ]}
      />
      <TextList texts={content.baseline_inputs.artifact_files} />
      <Block text={content.baseline_inputs.handoff_json} name="Handoff as JSON" />
    </>
  );
}

function TextList({ texts }: { texts: readonly string[] }) {
  return texts.length > 0 ? (
    <ol class="criteria">
      {texts.map((text, index) => (
        <li key={index}>
          <p>
            <UserText text={text} />
          </p>
        </li>
      ))}
    </ol>
  ) : null;
}
