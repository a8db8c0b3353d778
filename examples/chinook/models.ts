import type { ModelDefinitions } from 'keelson'

/**
 * Models for the SQLite edition of Chinook, the sample database of a record shop, without any change of the database.
 * Models and attributes have their own names; `tableName` and `columnName` give the names in the database.
 */
export const models = {
  artist: {
    tableName: 'Artist',
    attributes: {
      id: { type: 'number', columnName: 'ArtistId', autoIncrement: true },
      name: { type: 'string', columnName: 'Name', maxLength: 120 },
      albums: { collection: 'album', via: 'artist' },
    },
  },
  album: {
    tableName: 'Album',
    attributes: {
      id: { type: 'number', columnName: 'AlbumId', autoIncrement: true },
      title: { type: 'string', columnName: 'Title', required: true, maxLength: 160 },
      artist: { model: 'artist', columnName: 'ArtistId', required: true },
      tracks: { collection: 'track', via: 'album' },
    },
  },
  track: {
    tableName: 'Track',
    attributes: {
      id: { type: 'number', columnName: 'TrackId', autoIncrement: true },
      name: { type: 'string', columnName: 'Name', required: true, maxLength: 200 },
      album: { model: 'album', columnName: 'AlbumId' },
      mediaType: { model: 'mediaType', columnName: 'MediaTypeId', required: true },
      genre: { model: 'genre', columnName: 'GenreId' },
      composer: { type: 'string', columnName: 'Composer', maxLength: 220 },
      milliseconds: { type: 'number', columnName: 'Milliseconds', isInteger: true, required: true },
      bytes: { type: 'number', columnName: 'Bytes', isInteger: true },
      unitPrice: { type: 'number', columnName: 'UnitPrice', columnType: 'numeric(10,2)', required: true },
      invoiceLines: { collection: 'invoiceLine', via: 'track' },
      // The eleventh table contains pairs of keys only. It is not a model but the junction of this association.
      playlists: {
        collection: 'playlist',
        via: 'tracks',
        through: { tableName: 'PlaylistTrack', from: 'TrackId', to: 'PlaylistId' },
      },
    },
  },
  playlist: {
    tableName: 'Playlist',
    attributes: {
      id: { type: 'number', columnName: 'PlaylistId', autoIncrement: true },
      name: { type: 'string', columnName: 'Name', maxLength: 120 },
      tracks: { collection: 'track', via: 'playlists' },
    },
  },
  genre: {
    tableName: 'Genre',
    attributes: {
      id: { type: 'number', columnName: 'GenreId', autoIncrement: true },
      name: { type: 'string', columnName: 'Name', maxLength: 120 },
      tracks: { collection: 'track', via: 'genre' },
    },
  },
  mediaType: {
    tableName: 'MediaType',
    attributes: {
      id: { type: 'number', columnName: 'MediaTypeId', autoIncrement: true },
      name: { type: 'string', columnName: 'Name', maxLength: 120 },
      tracks: { collection: 'track', via: 'mediaType' },
    },
  },
  employee: {
    tableName: 'Employee',
    attributes: {
      id: { type: 'number', columnName: 'EmployeeId', autoIncrement: true },
      lastName: { type: 'string', columnName: 'LastName', required: true, maxLength: 20 },
      firstName: { type: 'string', columnName: 'FirstName', required: true, maxLength: 20 },
      title: { type: 'string', columnName: 'Title', maxLength: 30 },
      reportsTo: { model: 'employee', columnName: 'ReportsTo' },
      // With `columnType`, the date formats that other programs write are accepted.
      birthDate: { type: 'datetime', columnName: 'BirthDate', columnType: 'datetime' },
      hireDate: { type: 'datetime', columnName: 'HireDate', columnType: 'datetime' },
      address: { type: 'string', columnName: 'Address', maxLength: 70 },
      city: { type: 'string', columnName: 'City', maxLength: 40 },
      state: { type: 'string', columnName: 'State', maxLength: 40 },
      country: { type: 'string', columnName: 'Country', maxLength: 40 },
      postalCode: { type: 'string', columnName: 'PostalCode', maxLength: 10 },
      phone: { type: 'string', columnName: 'Phone', maxLength: 24 },
      fax: { type: 'string', columnName: 'Fax', maxLength: 24 },
      email: { type: 'string', columnName: 'Email', maxLength: 60 },
      reports: { collection: 'employee', via: 'reportsTo' },
      customers: { collection: 'customer', via: 'supportRep' },
    },
  },
  customer: {
    tableName: 'Customer',
    attributes: {
      id: { type: 'number', columnName: 'CustomerId', autoIncrement: true },
      firstName: { type: 'string', columnName: 'FirstName', required: true, maxLength: 40 },
      lastName: { type: 'string', columnName: 'LastName', required: true, maxLength: 20 },
      company: { type: 'string', columnName: 'Company', maxLength: 80 },
      address: { type: 'string', columnName: 'Address', maxLength: 70 },
      city: { type: 'string', columnName: 'City', maxLength: 40 },
      state: { type: 'string', columnName: 'State', maxLength: 40 },
      country: { type: 'string', columnName: 'Country', maxLength: 40 },
      postalCode: { type: 'string', columnName: 'PostalCode', maxLength: 10 },
      phone: { type: 'string', columnName: 'Phone', maxLength: 24 },
      fax: { type: 'string', columnName: 'Fax', maxLength: 24 },
      email: { type: 'string', columnName: 'Email', required: true, isEmail: true, maxLength: 60 },
      supportRep: { model: 'employee', columnName: 'SupportRepId' },
      invoices: { collection: 'invoice', via: 'customer' },
    },
  },
  invoice: {
    tableName: 'Invoice',
    attributes: {
      id: { type: 'number', columnName: 'InvoiceId', autoIncrement: true },
      customer: { model: 'customer', columnName: 'CustomerId', required: true },
      invoiceDate: { type: 'datetime', columnName: 'InvoiceDate', columnType: 'datetime', required: true },
      billingAddress: { type: 'string', columnName: 'BillingAddress', maxLength: 70 },
      billingCity: { type: 'string', columnName: 'BillingCity', maxLength: 40 },
      billingState: { type: 'string', columnName: 'BillingState', maxLength: 40 },
      billingCountry: { type: 'string', columnName: 'BillingCountry', maxLength: 40 },
      billingPostalCode: { type: 'string', columnName: 'BillingPostalCode', maxLength: 10 },
      total: { type: 'number', columnName: 'Total', columnType: 'numeric(10,2)', required: true },
      lines: { collection: 'invoiceLine', via: 'invoice' },
    },
  },
  invoiceLine: {
    tableName: 'InvoiceLine',
    attributes: {
      id: { type: 'number', columnName: 'InvoiceLineId', autoIncrement: true },
      invoice: { model: 'invoice', columnName: 'InvoiceId', required: true },
      track: { model: 'track', columnName: 'TrackId', required: true },
      unitPrice: { type: 'number', columnName: 'UnitPrice', columnType: 'numeric(10,2)', required: true },
      quantity: { type: 'number', columnName: 'Quantity', isInteger: true, required: true },
    },
  },
} as const satisfies ModelDefinitions
