/** A database with what models describe with difficulty, or not at all. Rows are in every table that is served. */
export const unusualSqlite = `
create table users (
  id integer primary key, email varchar(120) not null unique collate nocase, password_hash text,
  role text not null default 'reader', active boolean not null default 1, score real default 0.5,
  balance decimal(10,2) not null default 0, settings json default '{"a":1}', created_at datetime not null default current_timestamp,
  updated_at text default (datetime('now')), expires_at datetime default (datetime('now', '+1 day')),
  seen_at timestamp default current_timestamp, big bigint, avatar blob, verified bit, tier bit(1), birth date, opening time,
  "Display Name" text, "2fa" text, "and" integer, "" text, "constructor" text, note string, kind somekind(3, 4), anything,
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
create table raw_marks (ID integer, row_id integer, mark text);
create table builders (id integer primary key, "constructor" text not null);
create table blobs (id blob primary key);
create view active_users as select * from users where active;
create virtual table search using fts5(body);
create table schema_migrations (version text primary key);
create table "constructor" (id integer primary key);
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

export const unusualPostgres = `
create type mood as enum ('happy', 'so-so');
create domain price as numeric(10, 2) check (value >= 0);
create type spot as (x int, y int);
create extension if not exists citext;
create function short_id() returns bigint language sql volatile as 'select (random() * 1000000)::bigint';
create table members (
  id bigserial primary key, email citext not null unique, api_token text, name varchar(80) not null, code char(3),
  small smallint not null default 0, whole int, big bigint not null default 0, amount numeric, sized numeric(8,3) not null default 1.5, cost price,
  ratio real, exact double precision, active boolean not null default true, mood mood not null default 'happy', moods mood[],
  tags text[] not null default '{}', data jsonb not null default '{"a": [1]}', raw json, doc xml, place point, spot spot,
  seen timestamptz, local timestamp, born date, alarm time, wait interval, photo bytea, address inet, network cidr, range int4range,
  reference uuid not null default gen_random_uuid(), words tsvector generated always as (to_tsvector('simple', name)) stored,
  number int generated always as identity, ticket serial,
  created_at timestamptz not null default now(), "updatedAt" timestamp not null default current_timestamp,
  expires_at timestamptz not null default now() + interval '1 day', published_at timestamptz default timezone('utc'::text, now()),
  "Name" text, unique (whole, code));
create table devices (id uuid primary key default gen_random_uuid(), member_id bigint not null references members on delete cascade, label text);
create table tickets (id bigint primary key default short_id(), assignee_id bigint references members on delete set null, reporter_id bigint references members);
create table countries (code char(2) primary key, name text not null);
create table member_countries (member_id bigint references members, country_code char(2) references countries, primary key (country_code, member_id));
create table "_CountryToDevice" ("A" char(2) not null references countries, "B" uuid not null references devices, primary key ("A", "B"));
create table lines (order_id int, line int, primary key (order_id, line));
create table shown_lines (order_id int, line int, id bigint generated by default as identity unique, primary key (order_id, line));
create table measured (id bigint generated by default as identity, at timestamptz not null default now(), v float8, primary key (id, at)) partition by range (at);
create table measured_all partition of measured default;
create table marked (id serial primary key, measured_id bigint, at timestamptz, foreign key (measured_id, at) references measured);
create table nothing (a int);
create table numbered (id int, a int);
create table logged (id int, at timestamptz, primary key (id, at)) partition by range (at);
create table logged_all partition of logged default;
create table located (id serial primary key, at point not null);
create table moments (at timestamptz primary key);
create table "Members" (id serial primary key);
create view active_members as select * from members where active;
create materialized view counts as select count(*) as n from members;
create table "_prisma_migrations" (id text primary key);
create schema billing; create schema auditing; create table auditing.trail (id serial primary key);
create table billing.invoices (id serial primary key);
create table bills (id serial primary key, invoice_id int);

insert into members (email, name, code, whole, moods, raw, doc, place, spot, address, range) values
  ('a@b.c', 'Ann', 'abc', 1, '{happy}', '[1]', '<a/>', '(1,2)', '(1,2)', '10.0.0.1', '[1,3)'), ('d@e.f', 'Bob', null, 2, null, null, null, null, null, null, null);
insert into devices (member_id) values (1);
insert into tickets (assignee_id, reporter_id) values (1, 2);
insert into countries values ('NO', 'Norway');
insert into member_countries values (1, 'NO');
insert into shown_lines values (1, 1);
insert into measured (v) values (1.5);
insert into marked default values;
insert into bills (invoice_id) values (1);
`
