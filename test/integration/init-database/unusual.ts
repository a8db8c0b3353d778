/** A database with what models describe with difficulty, or not at all. Rows are in every table that is served. */
export const unusualSqlite = `
create table users (
  id integer primary key, email varchar(120) not null unique collate nocase, password_hash text,
  role text not null default 'reader', active boolean not null default 1, score real default 0.5,
  balance decimal(10,2) not null default 0, settings json default '{"a":1}', created_at datetime not null default current_timestamp,
  updated_at text default (datetime('now')), expires_at datetime default (datetime('now', '+1 day')),
  seen_at timestamp default current_timestamp, big bigint, avatar blob, birth date, opening time,
  "Display Name" text, "2fa" text, "and" integer, "constructor" text, note string, kind somekind(3, 4), anything,
  name_length integer generated always as (length(email)) virtual);
create table people (id integer primary key);
create table person (id integer primary key);
create table "order" (
  id integer primary key, number text not null unique, customer_id integer not null references users on delete cascade,
  status varchar(3) not null default 'too long', created_at datetime not null);
create table order_lines (order_id integer not null references "order", line_no integer not null, primary key (order_id, line_no));
create table shipments (
  id integer primary key, order_id integer, line_no integer, order_number text references "order"(number),
  foreign key (order_id, line_no) references order_lines);
create table teams (code text primary key not null, name text) without rowid;
create table matches (
  id int primary key not null, home_team_id text not null references teams, away_team_id text references Teams(code) on delete set null);
create table categories (id integer primary key, name text not null, parent_id integer references categories, unique (parent_id, name));
create table employees (id integer primary key, manager_id integer references employees);
create table profiles (user_id integer primary key references users, bio text);
create table roles (id integer primary key, name text not null);
create table user_roles (
  user_id integer not null references users, role_id integer not null references roles,
  granted_at datetime default current_timestamp, primary key (user_id, role_id));
create table follows (follower_id integer references users, followee_id integer references users, primary key (follower_id, followee_id));
create table grades (user_id integer references users, role_id integer references roles, grade integer not null, primary key (user_id, role_id));
create table raw_events (at text, what text);
create table builders (id integer primary key, "constructor" text not null);
create table blobs (id blob primary key);
create view active_users as select * from users where active;
create virtual table search using fts5(body);
create table schema_migrations (version text primary key);
create table keelson_old (id integer primary key);
create table live (id integer primary key, v text);
create table "Étudiants" (id integer primary key, "a""b" text, "x'y" text);
create table "odd
}) process.exit(1) //" (id integer primary key, "c
) d" text default ('x' || 'y
z'));
create table strict_one (id integer primary key, n int, r real, t text, b blob, a any) strict;
create table loose_link (id integer primary key, user text references users);
create table things (id uuid primary key, at datetime);
create table tokens (token text primary key not null, user_id integer references users on delete cascade);

insert into users (email) values ('a@b.c');
insert into users (email, password_hash) values ('d@e.f', 'x');
insert into users (id, email) values (77, 'g@h.i');
insert into people values (1);
insert into person values (1);
insert into "order" (number, customer_id, status, created_at) values ('n1', 1, 'new', '2021-01-02 03:04:05');
insert into order_lines values (1, 1);
insert into shipments values (1, 1, 1, 'n1');
insert into teams values ('A', 'x'), ('B', 'y');
insert into matches values (5, 'A', 'B');
insert into categories (name) values ('r');
insert into categories (name, parent_id) values ('s', 1);
insert into employees values (1, null), (2, 1);
insert into profiles values (1, 'hi');
insert into roles values (1, 'x');
insert into user_roles (user_id, role_id) values (1, 1);
insert into follows values (1, 2);
insert into grades values (1, 1, 3);
insert into live values (1, 'v');
insert into "Étudiants" values (1, 'a', 'b');
insert into "odd
}) process.exit(1) //" (id) values (1);
insert into strict_one values (1, 2, 3.5, 't', x'00', 'any');
insert into loose_link values (1, '1');
insert into things values ('0190a0a0-0000-7000-8000-000000000001', 1700000000000);
insert into tokens values ('t', 1);
`
