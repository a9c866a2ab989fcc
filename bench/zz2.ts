import { withSetting } from './setting.ts';
import { guestbook } from './guestbook.ts';
import { updates } from './updates.ts';
import { queue } from './queue.ts';
import pg from 'pg';
const B:any={guestbook,updates,queue};
await withSetting(async (s)=>{
  let urls:string[]=[];
  const cs=await B[process.argv[2]!].prepare({...s, database: async(k:any)=>{const u=await s.database(k); urls.push(u); return u;}} as any);
  const c=cs.find((x:any)=>new RegExp(process.argv[3]!).test(x.name));
  await c!.ours.run(1);
  for (const url of urls.slice(0,1)){
  const a=new pg.Client(url); await a.connect();
  await a.query('create extension pg_stat_statements'); await a.query('select pg_stat_statements_reset()');
  const t=performance.now(); const r=await c!.ours.run(5); const n=r*(performance.now()-t)/1000;
  console.log(r);
  const st=await a.query("select datname d, calls, (total_exec_time*1000)::int us, (total_plan_time*1000)::int plan_us, wal_bytes::int wal, left(regexp_replace(query,'\\s+',' ','g'),110) q from pg_stat_statements s join pg_database on oid=dbid order by total_exec_time+total_plan_time desc limit 22");
  for(const x of st.rows) console.log((x.calls/n).toFixed(2).padStart(6),(x.us/n).toFixed(0).padStart(5),'µs/op', (x.plan_us/n).toFixed(0).padStart(5),'plan',(x.wal/n).toFixed(0).padStart(6),'wal', x.q);
  await a.end(); }
});
