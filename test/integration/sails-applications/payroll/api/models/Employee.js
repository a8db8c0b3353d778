/** Sails 0.12 on a database that existed before: its own key, table and column names. */
module.exports = {
  tableName: 'tbl_employee',
  autoPK: false,
  autoCreatedAt: 'hired_at',
  autoUpdatedAt: false,
  attributes: {
    employeeId: {
      type: 'integer',
      primaryKey: true,
      autoIncrement: true,
      unique: true,
      columnName: 'employee_id',
      size: 64,
    },
    badge: { type: 'string', len: [4, 8], uppercase: true, columnName: 'badge_no' },
    salary: { type: 'decimal', columnType: 'DECIMAL(10, 2)', protected: true },
    birthday: { type: 'datetime', before: new Date('2020-01-01'), after: '1900-01-01' },
    grade: { type: 'string', in: ['A', 'B'], size: 1 },
    remarks: { type: 'longtext' },
  },
}
