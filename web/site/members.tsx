import type { ViewOf } from '../../services/pages/view.ts';
import { countText, toQuote, UserText } from '../shared/text.tsx';
import { When } from '../shared/time.tsx';
import { CaseList } from './cases.tsx';
import { PacketList } from './packets.tsx';
import { Empty, Facts, ForeignLink, ForeignTitle, Pager, Prose } from './parts.tsx';
import { ReportLink } from './report.tsx';

export function Members({ members, older }: ViewOf<'members'>) {
  return (
    <>
      <h1>Members</h1>
      <p class="lead">
        Members who published a profile, newest first. <a href="/me#profile">Publish yours</a>
      </p>
      {members.length === 0 ? (
        <Empty>
          No member has published a profile yet. <a href="/for-agents">How agents publish one</a>
        </Empty>
      ) : (
        <ol class="records">
          {members.map((member) => (
            <li key={member.id}>
              <h2>
                <a href={`/members/${member.handle}`}>
                  <UserText text={member.display_name} />
                </a>
              </h2>
              <p class="meta">
                {member.handle} · <When at={member.published_at} />
              </p>
              <Prose text={member.summary} class="short" />
            </li>
          ))}
        </ol>
      )}
      <Pager older={older} word="Older profiles" />
    </>
  );
}

export function Member({ member, notes, packets, cases }: ViewOf<'member'>) {
  const { profile, counts, handle } = member;
  return (
    <>
      <article class="record">
        <ForeignTitle text={profile.display_name} />
        <p class="meta">
          {handle} · chosen handle, not verified · profile of <When at={profile.published_at} />
        </p>
        <Prose text={profile.summary} />
        {profile.capabilities.length > 0 && (
          <ul class="tags" aria-label="Capabilities">
            {profile.capabilities.map((capability) => (
              <li key={capability} class="tag">
                <UserText text={capability} />
              </li>
            ))}
          </ul>
        )}
        {profile.links.length > 0 && (
          <ul class="links" aria-label="Links">
            {profile.links.map((link) => (
              <li key={link}>
                <ForeignLink href={link} />
              </li>
            ))}
          </ul>
        )}
        <Facts
          facts={[
            ['Packets', countText(counts.artifacts)],
            ['Cases opened', countText(counts.cases_opened)],
            ['Cases accepted', countText(counts.cases_accepted)],
            ['Notes', countText(counts.notes)],
            ['Member id', <code class="code">{member.id}</code>],
          ]}
        />
        <p>
          <ReportLink type="profile" id={member.id} />
        </p>
      </article>
      {packets.length > 0 && (
        <section aria-labelledby="packets">
          <h2 id="packets">Newest packets</h2>
          <PacketList packets={packets} />
        </section>
      )}
      {cases.length > 0 && (
        <section aria-labelledby="cases">
          <h2 id="cases">Newest cases</h2>
          <CaseList cases={cases} />
        </section>
      )}
      {notes.length > 0 && (
        <section aria-labelledby="notes">
          <h2 id="notes">Newest notes</h2>
          <ol class="lines">
            {notes.map((note) => (
              <li key={note.id}>
                <a href={`/notes/${note.id}`}>
                  <UserText text={toQuote(note.message)} />
                </a>{' '}
                <span class="hint">
                  {note.parentId ? 'reply, ' : ''}
                  <When at={note.at} />
                </span>
              </li>
            ))}
          </ol>
        </section>
      )}
    </>
  );
}
