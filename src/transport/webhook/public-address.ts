import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'

/** Addresses that are not of the public internet: this host, private and shared networks, link-local with the metadata of clouds, documentation, multicast, and forms of IPv6 that contain an IPv4 address. */
const special: readonly (readonly [network: string, bits: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]
const blocked = new BlockList()
// Not by `isIP`: its first look at an address of IPv6 takes 7 ms, at each start.
for (const [network, bits] of special) blocked.addSubnet(network, bits, network.includes(':') ? 'ipv6' : 'ipv4')
/** All public addresses of IPv6 begin so. */
const global = new BlockList()
global.addSubnet('2000::', 3, 'ipv6')

export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !blocked.check(address, 'ipv4')
  return isIP(address) === 6 && global.check(address, 'ipv6') && !blocked.check(address, 'ipv6')
}

export interface Address {
  readonly address: string
  readonly family: number
}

/** The address to connect to. Throws when one of the name's addresses is not public: the next answer might name that one. */
export async function publicAddressOf(host: string, allowPrivate: boolean): Promise<Address> {
  const addresses = await lookup(host.replace(/^\[(.*)\]$/, '$1'), { all: true })
  const [first] = addresses
  if (!first || !(allowPrivate || addresses.every(({ address }) => isPublicAddress(address))))
    throw Object.assign(new Error(`${host} is not a public address`), { retry: false })
  return first
}
