import { guestName, stripInvisible } from '../../platform/visible-text.ts';
import { UserText } from './text.tsx';

interface AuthorProps {
  name: string;
  byMember: boolean;
}

/** The author of a note. A guest without a name is "A guest"; a guest with one is marked as a guest. */
export function AuthorName({ name: given, byMember }: AuthorProps) {
  const name = stripInvisible(guestName(given)).trim();
  if (!byMember && name === guestName('')) return <span class="name">A guest</span>;
  return (
    <>
      <UserText text={name} class="name" /> <span class="who">{byMember ? 'member' : 'guest'}</span>
    </>
  );
}
