import '../site/site.css';
import './guestbook.css';
import { hydrate } from 'preact';
import type { LiveView } from '../../services/pages/site/view.ts';
import { EXPERIENCES } from './experience.ts';
import { GuestbookPage } from './page.tsx';

// Guestbooks had such addresses before they had pages of their own.
const moved = EXPERIENCES.find(({ id }) => location.pathname === '/' && location.hash === `#${id}`);
const place = document.getElementById('page');
const data = document.getElementById('view')?.textContent;
if (moved && moved.href !== '/') location.replace(moved.href);
else if (place && data) hydrate(<GuestbookPage view={JSON.parse(data) as LiveView} />, place);
